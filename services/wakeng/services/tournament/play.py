"""Plays a tournament: its schedule through an executor, from whatever a former process left behind.

The results of a tournament are a fold over its records, so nothing but them has to survive: a tournament that was
killed is begun anew over what was recorded, and goes on at the first hand that is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from wakeng.services.floor import Floor, Record
from wakeng.services.tournament.executor import Executor, Outcomes
from wakeng.services.tournament.prefix import Progress, Recorded
from wakeng.services.tournament.schedule import schedule_of
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics.results import Block, HandResult, block_of, hand_result
from wakeng.services.tournament.verdicts import rating, stop_rule

_NOTHING: Final[Mapping[int, int]] = MappingProxyType({})


def progress_of(
    spec: TournamentSpec, records: Sequence[Record] = (), voids: Mapping[int, int] = _NOTHING
) -> Progress[HandResult, Block]:
    """A tournament at its beginning, with the hands that were recorded already; `voids` are counts by hand."""
    hands: dict[int, dict[int, HandResult]] = {}
    for record in records:
        block, place = divmod(record["hand_index"], spec.hands_per_block)
        hands.setdefault(block, {})[place] = hand_result(record)
    voided = {divmod(hand, spec.hands_per_block): count for hand, count in voids.items()}
    return Progress(
        schedule_of(spec, rate=rating(spec), stop=stop_rule(spec)),
        spec.dealer,
        fold=lambda block, outcomes: block_of(outcomes),
        window=spec.blocks_beyond_prefix,
        strike_off_after=spec.options.strike_off_after,
        recorded=Recorded(hands=hands, voids=voided),
    )


class TournamentRunner:
    """Gives an executor the blocks that may begin, and counts what it makes of them."""

    def __init__(self, progress: Progress[HandResult, Block], executor: Callable[[Outcomes], Executor]) -> None:
        """`executor` makes one, given whom to tell."""
        self.progress = progress
        self.executor = executor(self)

    @property
    def floor(self) -> Floor | None:
        """The floor of this process, if it plays."""
        return self.executor.floor

    async def run(self) -> None:
        """Play until the tournament is over, or `stop` was called and the hands in play are over."""
        self._submit()
        await self.executor.run()

    def stop(self) -> None:
        """Begin no further hand."""
        self.executor.stop()

    def ended(self, block: int, place: int, result: HandResult) -> None:
        """A hand has its record."""
        if not self.progress.over:
            self.progress.finished(block, place, result)
            self._submit()

    def voided(self, block: int, place: int, voids: int) -> None:
        """The arena failed at a hand: it is played again, or its block struck off for all."""
        if not self.progress.over:
            self.progress.voided(block, place, voids)
            self._submit()

    def _submit(self) -> None:
        for work in self.progress.begun():
            self.executor.submit(work)
        if self.progress.over:
            self.executor.end()
