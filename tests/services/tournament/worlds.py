"""Tournaments without cards: hands whose scores follow from seed and bots, played in any order the test likes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from wakeng.engine import derive
from wakeng.services.spec import SeatKind, SeatSpec
from wakeng.services.tournament.blocks import Block, BlockHand
from wakeng.services.tournament.docket import Docket, Turn
from wakeng.services.tournament.pairing import Ratings
from wakeng.services.tournament.prefix import Progress, Recorded
from wakeng.services.tournament.schedule import Schedule, schedule_of
from wakeng.services.tournament.spec import Entrant, TournamentSpec, tournament_rules

ZERO = bytes(32)

Scores: TypeAlias = dict[int, float]
"""By bot, as numbers in the field."""
Choice: TypeAlias = Callable[[int], int]
"""Which of so many."""


class World(Progress[Scores, Scores]):
    """Progress, and the docket that an executor would keep of it."""

    def __init__(self, spec: TournamentSpec, recorded: Recorded[Scores] | None) -> None:
        super().__init__(
            schedule(spec),
            spec.dealer,
            fold=fold,
            window=spec.blocks_beyond_prefix,
            strike_off_after=spec.options.strike_off_after,
            recorded=recorded,
        )
        self._docket = Docket(spec.options.strike_off_after)
        self._playing: dict[int, Turn] = {}

    def ready(self) -> Iterator[Turn]:
        for work in self.begun():
            self._docket.add(work)
        return iter(()) if self.over else self._docket.ready()

    def started(self, block: int) -> None:
        self._playing[block] = next(turn for turn in self.ready() if turn.block.index == block)
        self._docket.started(block)

    def put_back(self, block: int) -> None:
        self._docket.put_back(block)

    def hand_ended(self, block: int, outcome: Scores) -> None:
        """The block's hand in play is over."""
        self._docket.finished(block)
        if not self.over:
            self.finished(block, self._playing[block].hand.place, outcome)

    def hand_voided(self, block: int) -> bool:
        """The arena failed at it; whether its block is struck off."""
        struck_off = self._docket.voided(block)
        turn = self._playing[block]
        assert self.voided(block, turn.hand.place, turn.attempt + 1) is struck_off
        return struck_off


def spec_of(bots: int, **changes: Any) -> TournamentSpec:
    """A tournament of so many bots at three seats."""
    seats = tuple(Entrant(f"bot-{i}", SeatSpec(SeatKind.BUILTIN, "greedy")) for i in range(bots))
    given: dict[str, Any] = {"name": "a test", "rules": tournament_rules("xian"), "bots": seats, "seed": ZERO}
    return TournamentSpec(**(given | changes))


def play(hand: BlockHand) -> Scores:
    """What the hand comes to: luck, and half a point for each step in the field."""
    luck = [derive(hand.seed, "luck", seat)[0] / 64 for seat in range(len(hand.bots))]
    level = [bot / 2 for bot in hand.bots]
    mean = (sum(luck) + sum(level)) / len(luck)
    return {bot: luck[i] + level[i] - mean for i, bot in enumerate(hand.bots)}


def fold(block: Block, outcomes: Sequence[Scores]) -> Scores:
    """Means by bot."""
    return {bot: sum(scores[bot] for scores in outcomes) / len(outcomes) for bot in block.line_up}


def rate(bots: int) -> Callable[[Sequence[Scores]], Ratings]:
    """Shrunk means, with errors that go down with the root of the games."""

    def rated(results: Sequence[Scores]) -> Ratings:
        own = [[scores[bot] for scores in results if bot in scores] for bot in range(bots)]
        theta = [sum(values) / (len(values) + 8) for values in own]
        return Ratings(theta, theta, [2 / len(values) ** 0.5 if values else float("inf") for values in own])

    return rated


def schedule(spec: TournamentSpec) -> Schedule[Scores]:
    """With a test that ends `sprt` once bot 1 has got 40 points."""
    gained = [0.0]

    def stop(result: Scores) -> bool:
        gained[0] += max(0.0, result[1])
        return gained[0] > 40

    return schedule_of(spec, rate=rate(len(spec.bots)), stop=stop if len(spec.bots) == 2 else None)


def world(spec: TournamentSpec, recorded: Recorded[Scores] | None = None) -> World:
    """The tournament at its beginning, or with what was recorded."""
    return World(spec, recorded)


def run(
    progress: World,
    *,
    tables: int,
    choice: Choice = lambda n: 0,
    voids: Iterable[tuple[int, int]] = (),
    most: int | None = None,
) -> dict[int, dict[int, Scores]]:
    """Play on, `choice` saying which table ends next; hands in `voids` (block, place) never succeed.

    Ends with the tournament, or once `most` hands are over. What was played, by block and place.
    """
    played: dict[int, dict[int, Scores]] = {}
    seated: list[Turn] = []
    dead = set(voids)
    while most is None or sum(map(len, played.values())) < most:
        for turn in progress.ready():
            if len(seated) == tables:
                break
            progress.started(turn.block.index)
            seated.append(turn)
        if progress.over or not seated:
            return played
        turn = seated.pop(choice(len(seated)))
        hand = turn.hand
        if (hand.block, hand.place) in dead:
            progress.hand_voided(hand.block)
            continue
        played.setdefault(hand.block, {})[hand.place] = play(hand)
        progress.hand_ended(hand.block, play(hand))
    return played
