"""One hand from the first question to the settlement: the rules of docs/rules.md 3 as a state machine.

A `Hand` always stands at a question: `phase`, `turn` (the seat that decides) and `legal` (its actions in vocabulary
order). `apply` answers it, through a door that checks; behind the door nothing is checked again. Everything that
follows from an answer without anybody's choice (the kitty, the next seat, a cleared table, the settlement) happens
before `apply` returns.
"""

from collections.abc import Iterable
from typing import Final

from wakeng.engine.cards import card_ids, count_ranks
from wakeng.engine.deal import Deal, check_assigned_digger, deal_cards
from wakeng.engine.observe import Observation
from wakeng.engine.phases import ACTIONS, ALL_TOKENS, EVENTS, HIDDEN, LIE_DOWN_REFUSED, TOKENS, Phase, lies_down
from wakeng.engine.plays import (
    EFFECTS,
    FIRST_QUAD,
    FIRST_RUN,
    FOLLOWS,
    PAIRS,
    PLAYS,
    QUAD_FALL,
    QUADS,
    SINGLES,
    TRIPLES,
    pack_set,
    rank_count,
    remove,
)
from wakeng.engine.refusal import why_not
from wakeng.engine.rules import Bidding, RuleSet
from wakeng.engine.settle import Result, Terms, settle, settle_escape
from wakeng.engine.tasks import completed

PASS: Final = 0
NOBODY: Final = -1
BLACK_DIG: Final = 4
BLIND_DIG: Final = 3
"""Also what an assigned dig is worth."""
FORCED_DIG: Final = 1

# Names of their own, since before Python 3.12 a member of an enum takes nine times as long to find.
_ASSIGNED: Final = Bidding.ASSIGNED
_PLAY: Final = Phase.PLAY
_END: Final = Phase.END
_BLIND: Final = Phase.BLIND
_BID: Final = Phase.BID
_GRAB: Final = Phase.GRAB
_PLAY_DECISIONS: Final = tuple(tuple((seat, _PLAY, play.id) for play in PLAYS) for seat in range(4))
"""By seat and play: the decision, made once."""
_AFTER: Final[dict[int, tuple[int, ...]]] = {players: (*range(1, players), 0) for players in (3, 4)}
"""By number of players and seat: whose turn is next."""
_OFFER: Final = (0, 1)
_HIGHER_BIDS: Final = tuple(tuple((PASS, *range(bid + 1, most + 1)) for bid in range(5)) for most in range(5))
"""By the highest bid there may be and the highest so far: what may be bid."""
_RANK_BITS: Final = (1 << 13) - 1
_PAIR_BIT: Final = 1 << 13
_TRIPLE_BIT: Final = 1 << 26
_QUAD_BIT: Final = 1 << 39
_NO_HAND: Final = 1 << 52
"""These are the least packed hands that hold a pair, a triple, a quad; and the least int that is none."""
_CONTROL_POINTS: Final = {10: 1, 11: 2, 12: 3}
"""A, 2 and 3 by rank index, for LIE_DOWN."""


class IllegalAction(ValueError):
    """An action that the rules forbid here; the message says why, and the hand has not changed."""


class UnknownToken(IllegalAction):
    """A word that is no action of any phase."""


class Hand:
    """The state of one hand. Read its attributes; change it by `apply`, `apply_token` and `escape` alone.

    `planes` are the packed hands by seat (`wakeng.engine.plays`), `table` the id of the play to beat (0: none) and
    `holder` who made it, `decisions` every decision so far, hidden ones included.
    """

    __slots__ = (
        "_after",
        "_beaten",
        "_bombs",
        "_caller",
        "_history",
        "_irregular",
        "_runs",
        "_special_from",
        "_told",
        "_unasked",
        "bid",
        "blind",
        "bombs",
        "deal",
        "dealt",
        "decisions",
        "digger",
        "grabs",
        "holder",
        "legal",
        "lying",
        "opened",
        "phase",
        "planes",
        "result",
        "rules",
        "table",
        "turn",
    )

    def __init__(
        self,
        rules: RuleSet,
        deal: Deal,
        *,
        blind_first_seat: int | None = None,
        assigned_digger: int | None = None,
    ) -> None:
        """Begin a hand; `blind_first_seat` None stands for a match's first hand (the seat dealt first)."""
        check_assigned_digger(rules, assigned_digger)
        self.rules = rules
        self.deal = deal
        self.planes = [pack_set(cards) for cards in deal.hand_sets]
        self.dealt = False
        """Whether the cards are out; in BLIND nobody has seen one."""
        self.phase = _END
        self.turn = NOBODY
        self.legal: tuple[int, ...] = ()
        self.decisions: list[tuple[int, Phase, int]] = []
        self._history: list[str] = []
        self._told = 0
        """How many decisions are in `_history`."""
        self.digger = NOBODY
        self.bid = self.bombs = self.grabs = 0
        self.opened = self.blind = False
        self.lying = NOBODY
        self.table = PASS
        self.holder = NOBODY
        self.result: Result | None = None
        self._caller = NOBODY
        self._unasked = 0
        """How many seats the phase has still to ask."""
        self._after = _AFTER[rules.players]
        self._runs = rules.run_leads
        self._bombs = rules.bombs
        self._beaten = FOLLOWS[PASS]
        """The row of the play to beat."""
        self._special_from = 0 if rules.must_beat else _QUAD_BIT if rules.bombs else _NO_HAND
        """The least packed hand for which that row is not all: it holds a bomb, or one must beat."""
        self._irregular = False
        """Whether a hand was that great when play began, since none is later that was not."""
        if rules.bidding is _ASSIGNED:
            assert assigned_digger is not None
            self.bid = BLIND_DIG
            self._take_kitty(assigned_digger)
        elif rules.has_blind:
            first = deal.first_dealt_seat if blind_first_seat is None else blind_first_seat
            self._ask_each(_BLIND, first, rules.players)
        else:
            self._begin_bidding()

    @classmethod
    def from_seed(
        cls,
        rules: RuleSet,
        seed: bytes,
        *,
        blind_first_seat: int | None = None,
        assigned_digger: int | None = None,
    ) -> "Hand":
        """The hand of a seed of 32 bytes."""
        return cls(
            rules,
            deal_cards(rules, seed),
            blind_first_seat=blind_first_seat,
            assigned_digger=assigned_digger,
        )

    # The checked door ---------------------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Answer the present question; IllegalAction if `action` is not in `legal`.

        A play is worked out here and not further down: nearly all of what a hand costs is in these lines.
        """
        if action not in self.legal:
            raise self._refusal(action)
        seat = self.turn
        if self.phase is not _PLAY:
            self.decisions.append((seat, self.phase, action))
            _ANSWERS[self.phase](self, seat, action)
            return
        self.decisions.append(_PLAY_DECISIONS[seat][action])
        self.turn = turn = self._after[seat]
        planes = self.planes
        if action:
            ranks, fall, self._beaten = EFFECTS[action]
            hand = planes[seat]
            taken = hand & ranks
            planes[seat] = hand = hand - taken + (taken >> fall)
            self.table = action
            self.holder = seat
            if fall == QUAD_FALL and action < FIRST_RUN and self._bombs:
                self.bombs += 1
            if not hand:
                self._win(seat)
                return
        elif turn == self.holder:
            self.table = PASS
            self.legal = self._leads(planes[turn])
            return
        hand = planes[turn]
        shift, above, row = self._beaten
        self.legal = row[hand >> shift & above]
        if self._irregular and hand >= self._special_from:
            self.legal = self._special(self.legal, QUADS[hand >> 39])

    def apply_token(self, token: str) -> None:
        """Answer with a word of the wire; UnknownToken if it is none, IllegalAction if it is not legal here."""
        action = ACTIONS[self.phase].get(token)
        if action is None:
            if token in ALL_TOKENS:
                raise IllegalAction(f"{token!r} is no answer in the phase {self.phase.value}")
            raise UnknownToken(f"{token[:80]!r} is no action of any phase")
        self.apply(action)

    def legal_tokens(self) -> list[str]:
        """The legal actions as words, in vocabulary order."""
        tokens = TOKENS[self.phase]
        return [tokens[action] for action in self.legal]

    def default_action(self) -> int:
        """What is played for a seat that does not answer (docs/protocol.md 7)."""
        if self.table and self.legal[0] != PASS:
            kind = PLAYS[self.table].kind
            return next((play for play in self.legal if PLAYS[play].kind is kind), self.legal[0])
        return self.legal[0]

    def escape(self, seat: int) -> None:
        """The seat leaves and pays; the hand is over (docs/rules.md 4)."""
        if self.phase is _END:
            raise IllegalAction("the hand is over")
        if not 0 <= seat < self.rules.players:
            raise IllegalAction(f"{seat} is no seat of 0..{self.rules.players - 1}")
        terms = None if self.digger == NOBODY else self._terms()
        self._end(settle_escape(self.rules, terms, seat))

    # What is held and seen ----------------------------------------------------------------------------------------

    def count(self, seat: int) -> int:
        """How many cards the seat holds."""
        return self.planes[seat].bit_count()

    def cards(self, seat: int) -> tuple[int, ...]:
        """The card ids the seat holds, ascending: of equal ranks the lower suits have left first."""
        deal = self.deal
        taken = card_ids(deal.hand_sets[seat] | (deal.kitty_set if seat == self.digger else 0))
        plane = self.planes[seat]
        if plane.bit_count() == len(taken):
            return taken
        gone = [count - rank_count(plane, rank) for rank, count in enumerate(count_ranks(taken))]
        held = []
        for card in taken:
            if gone[card >> 2]:
                gone[card >> 2] -= 1
            else:
                held.append(card)
        return tuple(held)

    @property
    def history(self) -> list[str]:
        """The public events so far, in a list to be read; it follows from the decisions, and is made when asked for."""
        decisions = self.decisions
        for decision in decisions[self._told :]:
            if (event := _event(*decision)) is not None:
                self._history.append(event)
        self._told = len(decisions)
        return self._history

    def observe(self, seat: int) -> Observation:
        """What the seat may know now; that two others are asked about lying down it does not see."""
        dealt = self.dealt
        dug = self.digger != NOBODY
        return Observation(
            rules=self.rules,
            seat=seat,
            phase=_PLAY if self.phase in HIDDEN and seat != self.turn else self.phase,
            cards=self.cards(seat) if dealt else (),
            cards_left=tuple(plane.bit_count() if dealt else 0 for plane in self.planes),
            kitty=self.deal.kitty if dug else None,
            digger=self.digger if dug else None,
            bid=self.bid,
            bombs=self.bombs,
            grabs=self.grabs,
            opened=self.opened,
            blind=self.blind,
            lying_seat=None if self.lying == NOBODY else self.lying,
            opened_cards=self.cards(self.digger) if self.opened else None,
            marked_card=self.deal.marked_card,
            marked_seat=self.deal.marked_seat if dealt else None,
            task=self.deal.task if dug else None,
            table=self.table,
            table_seat=self.holder if self.table else None,
            history=tuple(self.history),
        )

    # Before the cards are played ----------------------------------------------------------------------------------

    def _ask(self, phase: Phase, seat: int, legal: tuple[int, ...]) -> None:
        self.dealt = phase is not _BLIND
        self.phase = phase
        self.turn = seat
        self.legal = legal

    def _ask_each(self, phase: Phase, first: int, count: int) -> None:
        """Begin a phase that asks `count` seats in turn order."""
        self._unasked = count
        self._ask_next(phase, first)

    def _ask_next(self, phase: Phase, seat: int) -> bool:
        """Put the phase's question to this seat; False when all were asked."""
        if not self._unasked:
            return False
        self._unasked -= 1
        legal = _OFFER if phase is not _BID else _HIGHER_BIDS[self.rules.max_bid][self.bid]
        self._ask(phase, seat, legal)
        return True

    def _answer_blind(self, seat: int, action: int) -> None:
        if not action:
            if not self._ask_next(_BLIND, self._after[seat]):
                self._begin_bidding()
        elif self.rules.black_dig:
            self.bid = BLACK_DIG
            self._take_kitty(seat)
        else:
            self.bid = BLIND_DIG
            self.blind = True
            self._begin_grabbing(seat)

    def _begin_bidding(self) -> None:
        self._caller = NOBODY
        self._ask_each(_BID, self.deal.first_caller, self.rules.players)

    def _answer_bid(self, seat: int, action: int) -> None:
        if action:
            self.bid = action
            self._caller = seat
        if self.bid == self.rules.max_bid:
            self._begin_grabbing(self._caller)
        elif not self._ask_next(_BID, self._after[seat]):
            if self._caller == NOBODY:
                self.bid = FORCED_DIG
                self._caller = self.deal.first_caller
            self._take_kitty(self._caller)

    def _begin_grabbing(self, caller: int) -> None:
        if not self.rules.grab:
            self._take_kitty(caller)
            return
        self._caller = caller
        self._ask_each(_GRAB, self._after[caller], self.rules.players - 1)

    def _answer_grab(self, seat: int, action: int) -> None:
        if action:
            self.grabs += 1
            self.blind = False
            self._caller = seat
        if not self._ask_next(_GRAB, self._after[seat]):
            self._take_kitty(self._caller)

    def _take_kitty(self, digger: int) -> None:
        self.digger = digger
        self.planes[digger] = pack_set(self.deal.hand_sets[digger] | self.deal.kitty_set)
        if self.rules.open:
            self._ask(Phase.OPEN, digger, _OFFER)
        else:
            self._begin_burying()

    def _answer_open(self, seat: int, action: int) -> None:
        self.opened = bool(action)
        self._begin_burying()

    def _begin_burying(self) -> None:
        if not self.rules.bury:
            self._begin_lying_down()
            return
        held = self.planes[self.digger]
        self._ask(Phase.BURY, self.digger, (PASS, *(rank + 1 for rank in range(13) if held >> rank & 1)))

    def _answer_bury(self, seat: int, action: int) -> None:
        if action:
            # The action of a rank is the id of its SINGLE too, so burying a card is playing it, unseen by the table.
            self.planes[seat] = remove(self.planes[seat], action)
        self._begin_lying_down()

    def _begin_lying_down(self) -> None:
        seat = self._qualified() if self.rules.lie_down else None
        if seat is None:
            self._begin_play()
        else:
            self._ask(Phase.LIE_DOWN_ASK, seat, _OFFER)

    def _qualified(self) -> int | None:
        """The defender strong enough to ask his partner to lie down; both could never be (docs/rules.md 3.9)."""
        first = self._after[self.digger]
        second = self._after[first]
        points = [control_points(cards) for cards in self.deal.hands]
        for seat, partner in ((first, second), (second, first)):
            margin = points[seat] - points[partner]
            if points[seat] >= self.rules.lie_down_points and margin >= self.rules.lie_down_margin:
                return seat
        return None

    def _answer_lie_down_ask(self, seat: int, action: int) -> None:
        if action:
            partner = next(other for other in range(3) if other not in (seat, self.digger))
            self._ask(Phase.LIE_DOWN_CONSENT, partner, _OFFER)
        else:
            self._begin_play()

    def _answer_lie_down_consent(self, seat: int, action: int) -> None:
        if action:
            self.lying = seat
            after = self._after
            self._after = tuple(after[seat] if next_seat == seat else next_seat for next_seat in after)
        self._begin_play()

    # Playing the cards --------------------------------------------------------------------------------------------

    def _begin_play(self) -> None:
        leader = self.deal.lowest_heart_seat
        self.dealt = True
        self.phase = _PLAY
        self.turn = self._after[leader] if leader == self.lying else leader
        self._irregular = max(self.planes) >= self._special_from
        self.legal = self._leads(self.planes[self.turn])

    def _leads(self, hand: int) -> tuple[int, ...]:
        """What can be led, joined from the right so that the longest part is copied once.

        Nothing is looked up that cannot be there, since most hands hold no triple.
        """
        straights, pair_runs, triple_runs, quad_runs = self._runs
        singles = hand & _RANK_BITS
        if hand < _PAIR_BIT:
            return SINGLES[singles] + straights[singles]
        pairs = hand >> 13 & _RANK_BITS
        if hand < _TRIPLE_BIT:
            return SINGLES[singles] + (PAIRS[pairs] + (straights[singles] + pair_runs[pairs]))
        triples = hand >> 26 & _RANK_BITS
        runs = straights[singles] + (pair_runs[pairs] + triple_runs[triples])
        if hand < _QUAD_BIT:
            return SINGLES[singles] + (PAIRS[pairs] + (TRIPLES[triples] + runs))
        quads = hand >> 39
        return SINGLES[singles] + (PAIRS[pairs] + (TRIPLES[triples] + (QUADS[quads] + (runs + quad_runs[quads]))))

    def _special(self, legal: tuple[int, ...], bombs: tuple[int, ...]) -> tuple[int, ...]:
        """What may follow where bombs are held or passing may be forbidden; `legal` begins with the pass."""
        if self._bombs and bombs and not FIRST_QUAD <= self.table < FIRST_RUN:
            legal = (PASS, *bombs, *legal[1:]) if self.table >= FIRST_RUN else legal + bombs
        return legal[1:] if self.rules.must_beat and len(legal) > 1 else legal

    # The end ------------------------------------------------------------------------------------------------------

    def _terms(self) -> Terms:
        lying = None if self.lying == NOBODY else self.lying
        return Terms(self.digger, self.bid, self.bombs, self.grabs, self.opened, lying, self.blind)

    def _win(self, seat: int) -> None:
        digger_wins = seat == self.digger
        bonus = self._task_bonus(seat, digger_wins=digger_wins) if self.deal.task else None
        self._end(settle(self.rules, self._terms(), digger_wins=digger_wins, task_bonus=bonus))

    def _task_bonus(self, out: int, *, digger_wins: bool) -> tuple[int, ...]:
        task = self.deal.task
        assert task is not None
        bonus = [0] * self.rules.players
        for seat in range(self.rules.players):
            is_digger = seat == self.digger
            if is_digger is not digger_wins or seat == self.lying:
                continue
            plays = [act for who, phase, act in self.decisions if who == seat and phase is _PLAY and act]
            if completed(task, plays=plays, is_digger=is_digger, went_out=seat == out):
                bonus[seat] = task.bonus * self.rules.base
        return tuple(bonus)

    def _end(self, result: Result) -> None:
        self.phase = _END
        self.turn = NOBODY
        self.legal = ()
        self.result = result

    def _refusal(self, action: int) -> IllegalAction:
        tokens = TOKENS[self.phase]
        if self.phase is _PLAY and 0 <= action < len(tokens):
            return IllegalAction(why_not(self.rules, self.planes[self.turn], PLAYS[action], PLAYS[self.table]))
        word = tokens[action] if 0 <= action < len(tokens) else str(action)
        if self.phase is _END:
            return IllegalAction("the hand is over")
        return IllegalAction(f"{word!r} is not legal in {self.phase.value}; legal: {' '.join(self.legal_tokens())}")


_ANSWERS: Final = {
    Phase.BLIND: Hand._answer_blind,
    Phase.BID: Hand._answer_bid,
    Phase.GRAB: Hand._answer_grab,
    Phase.OPEN: Hand._answer_open,
    Phase.BURY: Hand._answer_bury,
    Phase.LIE_DOWN_ASK: Hand._answer_lie_down_ask,
    Phase.LIE_DOWN_CONSENT: Hand._answer_lie_down_consent,
}


def _event(seat: int, phase: Phase, action: int) -> str | None:
    """The public line that a decision makes; asking a partner to lie down makes none before he has answered."""
    if phase not in HIDDEN:
        return EVENTS[seat][phase][action]
    if not action:
        return LIE_DOWN_REFUSED
    return lies_down(seat) if phase is Phase.LIE_DOWN_CONSENT else None


def control_points(cards: Iterable[int]) -> int:
    """3 for each 3, 2 for each 2, 1 for each A."""
    return sum(_CONTROL_POINTS.get(card >> 2, 0) for card in cards)
