"""Deals the hidden cards many times and plays each deal out: `search`, for the card play of `xian`.

It is bounded by worlds, not by time, and the worlds follow from the bot's seed and the question, so that a hand can be
replayed. What it does in a world stands in wakeng.bots.compiled.searching. It bids as `net`, and like it plays as
`expert` under rules for which there is no network.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wakeng.bots.extras import demand

demand("search", extra="search", modules=("numpy", "numba"))

from wakeng.bots.compiled.asking import Kernels, kernels  # noqa: E402
from wakeng.bots.net import Asked, Net  # noqa: E402 - after the demand, which says what is missing
from wakeng.bots.network import weights  # noqa: E402
from wakeng.sdk.decision import Decision  # noqa: E402

WORLDS: Final = 64
_SEEDS: Final = 1 << 64


class Search(Net):
    """One choice of look-ahead in many worlds."""

    name = "search"
    version = "1 (64 worlds and a network for xian; other rule sets as expert)"
    threads = 1
    """It thinks for milliseconds, and its server must answer pings meanwhile."""
    max_decisions = 16
    """They are thought about one after the other, so that many take a tenth of a second or two."""

    def __init__(self, seed: bytes = b"", path: Path = weights.BUILT_IN, *, worlds: int = WORLDS) -> None:
        super().__init__(seed, path)
        self.worlds = worlds
        if worlds != WORLDS:
            self.version = self.version.replace(str(WORLDS), str(worlds))

    def ready(self) -> None:
        """Compile the kernels, or load them, before anybody asks."""
        super().ready()
        self._kernels().warm_up()

    def choose_plays(self, decisions: Sequence[Decision], asked: Sequence[Asked]) -> list[int]:
        """Each question has worlds of its own."""
        search = self._kernels().search
        return [
            search(question, worlds=self.worlds, seed=self.draw(decision, _SEEDS))
            for decision, (question, _) in zip(decisions, asked, strict=True)
        ]

    def _kernels(self) -> Kernels:
        return kernels(self.path)
