"""The schedule of a tournament: which block comes next, from the seed and the results of completed rounds alone.

Results are given in schedule order and no other, so the order in which tables finish cannot reach the pairing. A
schedule has no memory but what it was told: to resume, make it anew and give it the same results again.
"""

from collections import Counter, deque
from collections.abc import Callable
from typing import Generic, TypeVar

from wakeng.services.tournament.blocks import Block, BlockKind, cyclic_order
from wakeng.services.tournament.line_ups import LineUp, all_line_ups, balanced, gauntlet, pair
from wakeng.services.tournament.pairing import Fixed, Ladder, Pairing, Rate, Swiss
from wakeng.services.tournament.spec import Format, TournamentSpec

R = TypeVar("R")

Stop = Callable[[R], bool]
"""Called with each result in schedule order, struck-off blocks left out; True ends the tournament with that block."""


class Schedule(Generic[R]):
    """Blocks one by one. `R` is whatever a completed block comes to; only ratings and `stop` look into it."""

    def __init__(
        self, pairing: Pairing[R], *, kind: BlockKind, blocks: int | None, stop: Stop[R] | None = None
    ) -> None:
        """`blocks` None: without end."""
        self.issued = 0
        """Blocks given out."""
        self.counted = 0
        """Blocks completed or struck off; after the end, the length of the tournament."""
        self.stopped = False
        """Whether `stop` ended it."""
        self._pairing = pairing
        self._kind = kind
        self._blocks = blocks
        self._stop = stop
        self._round: deque[LineUp] = deque()
        self._uses: Counter[LineUp] = Counter()
        self._results: list[R] = []

    @property
    def over(self) -> bool:
        """Whether every block that counts is counted."""
        return self.stopped or self.counted == self._blocks

    def next(self) -> Block | None:
        """The next block; None at the end, and where the next round waits for results of the last."""
        if self.stopped or self.issued == self._blocks:
            return None
        if not self._round:
            if self._pairing.waits and self.counted < self.issued:
                return None
            self._round.extend(self._pairing.next_round(self._results))
        return self._block(self._round.popleft())

    def completed(self, index: int, result: R | None) -> None:
        """What block `index` came to, None where it was struck off. The block after the last one told, and no other."""
        if self.over or index != self.counted or index >= self.issued:
            raise ValueError(f"results come in schedule order: block {self.counted} of {self.issued}, not {index}")
        self.counted += 1
        if result is None:
            return
        if self._pairing.waits:
            self._results.append(result)
        if self._stop is not None:
            self.stopped = self._stop(result)

    def _block(self, line_up: LineUp) -> Block:
        index, j = self.issued, self._uses[line_up]
        self.issued += 1
        self._uses[line_up] += 1
        order = cyclic_order(line_up, j) if self._kind is BlockKind.ROTATION else line_up
        return Block(index, self._kind, line_up, order)


def schedule_of(spec: TournamentSpec, *, rate: Rate[R] | None = None, stop: Stop[R] | None = None) -> Schedule[R]:
    """The schedule of a tournament from its beginning. Swiss and ladder need `rate`; `stop` is the test of `sprt`."""
    return Schedule(_pairing(spec, rate), kind=spec.block_kind, blocks=spec.planned_blocks, stop=stop)


def _pairing(spec: TournamentSpec, rate: Rate[R] | None) -> Pairing[R]:
    seed, bots, players = spec.seed, len(spec.bots), spec.rules.players
    match spec.pairing:
        case Format.ALL:
            return Fixed(all_line_ups(seed, bots=bots, players=players))
        case Format.BALANCED:
            return Fixed(balanced(seed, bots=bots, players=players))
        case Format.GAUNTLET:
            return Fixed(gauntlet(seed, bots=bots, players=players, challengers=spec.challenger_numbers))
        case Format.SPRT:
            return Fixed(pair())
        case Format.SWISS | Format.LADDER:
            if rate is None:
                raise ValueError(f"a {spec.format.value} schedule needs somebody to rate the bots")
            kind = Swiss if spec.pairing is Format.SWISS else Ladder
            return kind(seed, bots=bots, players=players, blocks=spec.blocks_at_once, rate=rate)
    raise AssertionError(spec.pairing)
