"""Who wins an ending when all cards lie open: a wrapper around the compiled search, for any rule set without must_beat.

With hidden cards a seat cannot know what the solver knows, so this is for tests, analysis and `seer`, never for a seat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wakeng.bots.extras import demand
from wakeng.bots.turns import turn_table
from wakeng.engine import Hand, Phase, RuleSet
from wakeng.engine.hand import NOBODY

if TYPE_CHECKING:
    from wakeng.bots.solver.moves import Ints

NODE_LIMIT: Final = 300_000
"""About a tenth of a second; an ending of 20 cards takes a few hundred nodes mostly."""
_NO_RUNS: Final = 99


class Unsolvable(ValueError):
    """A rule set or a moment that the solver is not made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A moment of PLAY with all cards known. Hands are packed, by seat; `holder` is of no matter where `table` is 0."""

    hands: tuple[int, ...]
    digger: int
    turn: int
    table: int = 0
    holder: int = 0
    lying: int | None = None

    @property
    def cards(self) -> int:
        """How many the active seats hold."""
        return sum(hand.bit_count() for seat, hand in enumerate(self.hands) if seat != self.lying)


def ending_of(hand: Hand) -> Ending:
    """The present moment of a hand; Unsolvable where no cards are being played."""
    if hand.phase is not Phase.PLAY:
        raise Unsolvable(f"cards are played in PLAY, not in {hand.phase.value}")
    return Ending(
        hands=tuple(hand.planes),
        digger=hand.digger,
        turn=hand.turn,
        table=hand.table,
        holder=max(hand.holder, 0),
        lying=None if hand.lying == NOBODY else hand.lying,
    )


class Solver:
    """Endings of one rule set. Making the first one of a process compiles the search, which takes some ten seconds.

    MissingExtra without numba, Unsolvable for rules with must_beat: the search lets anybody pass.
    """

    def __init__(self, rules: RuleSet, *, node_limit: int = NODE_LIMIT) -> None:
        if rules.must_beat:
            raise Unsolvable("must_beat: endings are solved only where it is off")
        demand("the open-card solver", extra="search", modules=("numpy", "numba"))
        import numpy as np

        from wakeng.bots.solver import kernel, moves

        self._kernel = kernel
        self._places = moves
        self._rules = rules
        self._limit = node_limit
        self.nodes = 0
        """Of the last search."""
        self._turns = np.frombuffer(turn_table(rules).values, np.uint8)
        self._moves = np.zeros((kernel.DEEPEST, kernel.MOST_MOVES), np.int64)
        self._keys = np.zeros((kernel.DEEPEST, kernel.MOST_MOVES), np.int64)
        self._kept_keys = np.zeros((kernel.ENTRIES, kernel.KEY), np.int64)
        self._kept = np.full(kernel.ENTRIES, kernel.UNKNOWN, np.uint8)

    def digger_wins(self, ending: Ending) -> bool | None:
        """Whether the digger wins; None where the limit of nodes leaves it open."""
        import numpy as np

        kernel, players = self._kernel, self._rules.players
        hands = np.zeros(4, np.int64)
        hands[:players] = ending.hands
        if ending.lying is not None:
            # What lies aside can neither be played nor end the hand, but would make one position look like two.
            hands[ending.lying] = 0
        facts = self._facts(ending)
        value = kernel.search(
            ending.turn,
            ending.table,
            ending.holder,
            0,
            hands,
            np.array(_after(players, ending.lying), np.int64),
            facts,
            self._turns,
            self._moves,
            self._keys,
            self._kept_keys,
            self._kept,
        )
        self.nodes = int(facts[self._places.NODES])
        return None if value == kernel.UNKNOWN else value == kernel.DIGGER_WINS

    def _facts(self, ending: Ending) -> "Ints":
        import numpy as np

        moves, rules = self._places, self._rules
        facts = np.zeros(moves.FACTS, np.int64)
        facts[moves.DIGGER] = ending.digger
        facts[moves.PLAYERS] = rules.players
        facts[moves.BOMBS] = rules.bombs
        facts[moves.LIMIT] = self._limit
        facts[moves.LYING] = NOBODY if ending.lying is None else ending.lying
        for size in (1, 2, 3, 4):
            facts[moves.SHORTEST + size - 1] = rules.shortest_run(size) or _NO_RUNS
        return facts


def _after(players: int, lying: int | None) -> Sequence[int]:
    """The next active seat, by seat."""
    after = [(seat + 1) % players for seat in range(players)]
    return [after[seat] if after[seat] != lying else (seat + 2) % players for seat in range(players)]
