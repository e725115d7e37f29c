"""A slow and literal second reading of docs/rules.md, written apart from the engine, that the engine is tested against.

Everything here is done on card strings ("4h"), lists and counting loops, in the order and the words of the rules.
`Game` is one hand: its generator `_run` tells the phases as the rules tell them, one `_ask` per question.
Nothing in this file imports the engine, so a mistake in the one cannot hide in the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

RANKS = "456789TJQKA23"
RUN_RANKS = "456789TJQK"
SUITS = "cdhs"
DECK = [rank + suit for rank in RANKS for suit in SUITS]
CONTROL_POINTS = {"3": 3, "2": 2, "A": 1}
MOST_CARDS = 20


def split(cards: str) -> list[str]:
    """`4h5d` as its cards."""
    return [cards[i : i + 2] for i in range(0, len(cards), 2)]


TASK_BONUS = {
    "WIN_AS_DEFENDER": 1,
    "WIN_AS_DIGGER": 1,
    "OUT_WITH_PAIR": 2,
    "OUT_WITH_STRAIGHT": 3,
    "OUT_WITH_SINGLE_4": 5,
    "TWO_PAIR_RUNS": 4,
    "STRAIGHT_OF_FIVE": 2,
    "WIN_WITHOUT_3": 3,
    "PLAY_QUAD": 4,
}

Answer = Generator[None, str, str]
Steps = Generator[None, str, Any]


# --- docs/rules.md 5: rule sets -------------------------------------------------------------------------------------

_DEFAULTS: dict[str, Any] = {
    "players": 3, "removed_cards": [], "hand_size": 16, "kitty_size": 4, "first_caller": "lowest_heart",
    "bidding": "auction", "max_bid": 3, "black_dig": False, "blind_dig": False, "grab": False, "open": False,
    "tasks": False, "lie_down": False, "lie_down_points": 9, "lie_down_margin": 4, "bury": False, "bombs": False,
    "triple_runs": False, "quad_runs": False, "straight_min": 3, "pair_run_min": 3, "triple_run_min": 3,
    "must_beat": False, "base": 1, "bomb_cap": 4, "escape_factor": 10, "escape_settles": False,
}  # fmt: skip
_FOUR = {"players": 4, "hand_size": 12, "bury": True}
_BAOJI = {"hand_size": 14, "removed_cards": ["Ac", "Ad", "Ah", "As", "2d", "3d"]}
_EXTRAS = {"grab": True, "open": True, "tasks": True}
_BLIND = {"first_caller": "marked_card", "blind_dig": True}
_DOWN = {"lie_down": True}
PRESETS: dict[str, dict[str, Any]] = {
    "xian": {**_DEFAULTS, "black_dig": True, "bombs": True, "triple_runs": True},
    "three_traditional": {**_DEFAULTS},
    "three_feature": {**_DEFAULTS, **_EXTRAS, **_DOWN},
    "three_blind": {**_DEFAULTS, **_EXTRAS, **_DOWN, **_BLIND},
    "four_traditional": {**_DEFAULTS, **_FOUR},
    "four_feature": {**_DEFAULTS, **_FOUR, **_EXTRAS},
    "four_blind": {**_DEFAULTS, **_FOUR, **_EXTRAS, **_BLIND},
    "baoji_traditional": {**_DEFAULTS, **_BAOJI},
    "baoji_feature": {**_DEFAULTS, **_BAOJI, **_EXTRAS, **_DOWN},
    "baoji_blind": {**_DEFAULTS, **_BAOJI, **_EXTRAS, **_DOWN, **_BLIND},
}


def rule_set(preset: str, overrides: Mapping[str, Any] | None = None) -> SimpleNamespace:
    """The fields of a preset as plain values, some of them overridden; nothing is validated."""
    fields = {**PRESETS[preset], **(overrides or {})}
    if isinstance(fields["removed_cards"], str):
        fields["removed_cards"] = split(fields["removed_cards"])
    return SimpleNamespace(**fields)


# --- docs/rules.md 2: combinations ----------------------------------------------------------------------------------

Combination = tuple[str, int, int, str]  # kind, cards per rank, number of ranks, top rank


def read(ranks: str) -> Combination | None:
    """What these ranks are as one play, or None; a rule set may still not allow it."""
    names = sorted(set(ranks), key=RANKS.index)
    sizes = {ranks.count(name) for name in names}
    if len(sizes) != 1 or len(ranks) > MOST_CARDS:
        return None
    size, groups = sizes.pop(), len(names)
    if size > 4:
        return None
    if groups == 1:
        return ("SINGLE", "PAIR", "TRIPLE", "QUAD")[size - 1], size, 1, names[0]
    if groups < 3 or "".join(names) not in RUN_RANKS:
        return None
    return ("STRAIGHT", "PAIR_RUN", "TRIPLE_RUN", "QUAD_RUN")[size - 1], size, groups, names[-1]


def allowed(rules: SimpleNamespace, play: Combination) -> bool:
    """Whether the rule set knows this combination."""
    kind, _, groups, _ = play
    if kind == "STRAIGHT":
        return bool(groups >= rules.straight_min)
    if kind == "PAIR_RUN":
        return bool(groups >= rules.pair_run_min)
    if kind == "TRIPLE_RUN":
        return bool(rules.triple_runs and groups >= rules.triple_run_min)
    if kind == "QUAD_RUN":
        return bool(rules.quad_runs)
    return True


def beats(rules: SimpleNamespace, ranks: str, table: str) -> bool:
    """Whether a play beats the table; both are given by their ranks."""
    play, other = read(ranks), read(table)
    assert play and other
    if play[0] == other[0] and len(ranks) == len(table):
        return RANKS.index(play[3]) > RANKS.index(other[3])
    return bool(rules.bombs and play[0] == "QUAD" and other[0] != "QUAD")


KIND_ORDER = ["SINGLE", "PAIR", "TRIPLE", "QUAD", "STRAIGHT", "PAIR_RUN", "TRIPLE_RUN", "QUAD_RUN"]


def _vocabulary_place(ranks: str) -> tuple[int, int, int]:
    play = read(ranks)
    assert play
    return KIND_ORDER.index(play[0]), play[2], RANKS.index(play[3])


def held_plays(rules: SimpleNamespace, held: str) -> list[str]:
    """Every play the held ranks contain, in the order of the vocabulary."""
    found = []
    for size in (1, 2, 3, 4):
        enough = [rank for rank in RANKS if held.count(rank) >= size]
        found += [rank * size for rank in enough]
        for first in range(len(RUN_RANKS)):
            run = ""
            for rank in RUN_RANKS[first:]:
                if rank not in enough:
                    break
                run += rank * size
                play = read(run)
                if play and play[2] >= 3 and allowed(rules, play):
                    found.append(run)
    return sorted(found, key=_vocabulary_place)


def legal_plays(rules: SimpleNamespace, held: str, table: str | None) -> list[str]:
    """The legal tokens of PLAY for a seat that holds these ranks, facing this play or an empty table."""
    if table is None:
        return held_plays(rules, held)
    beating = [ranks for ranks in held_plays(rules, held) if beats(rules, ranks, table)]
    return beating if rules.must_beat and beating else ["pass", *beating]


def vocabulary() -> list[str]:
    """Every play there is, by brute force over the shapes a hand of at most 20 cards can hold."""
    plays = [rank * size for size in (1, 2, 3, 4) for rank in RANKS]
    for size in (1, 2, 3, 4):
        for groups in range(3, len(RUN_RANKS) + 1):
            for first in range(len(RUN_RANKS) - groups + 1):
                if size * groups <= MOST_CARDS:
                    plays.append("".join(rank * size for rank in RUN_RANKS[first : first + groups]))
    return plays


# --- docs/rules.md 7: randomness ------------------------------------------------------------------------------------


def stream_of(seed: bytes) -> Generator[int, None, None]:
    """The 4-byte numbers of a seed's stream."""
    block = 0
    while True:
        digest = hashlib.sha256(seed + block.to_bytes(8, "big")).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def below(numbers: Generator[int, None, None], n: int) -> int:
    """The next draw from 0..n-1, without bias."""
    while True:
        x = next(numbers)
        if x < 2**32 - 2**32 % n:
            return x % n


def deal_cards(rules: SimpleNamespace, seed: bytes) -> SimpleNamespace:
    """The deal a seed gives: first_dealt_seat, hands, kitty, marked_card and task, cards as strings."""
    numbers = stream_of(seed)
    deck = [card for card in DECK if card not in rules.removed_cards]
    marked = deck[below(numbers, len(deck))] if rules.first_caller == "marked_card" else None
    first = below(numbers, rules.players)
    for i in range(len(deck) - 1, 0, -1):
        j = below(numbers, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    hands: list[list[str]] = [[] for _ in range(rules.players)]
    for number in range(rules.players * rules.hand_size):
        hands[(first + number) % rules.players].append(deck[number])
    kitty = deck[rules.players * rules.hand_size :]
    task = list(TASK_BONUS)[below(numbers, 9)] if rules.tasks else None
    return SimpleNamespace(first_dealt_seat=first, hands=hands, kitty=kitty, marked_card=marked, task=task)


# --- docs/rules.md 4: settlement ------------------------------------------------------------------------------------


def stake_of(
    rules: SimpleNamespace, *, bid: int, bombs: int, grabs: int, opened: bool, lying: bool, blind_won: bool
) -> int:
    """The stake of a hand."""
    factor = min(2**bombs, rules.bomb_cap) * 2**grabs
    for doubled in (opened, lying, blind_won):
        factor *= 2 if doubled else 1
    return int(rules.base * bid * factor)


def scores_of(rules: SimpleNamespace, digger: int, stake: int, *, digger_wins: bool) -> list[int]:
    """What each seat gets in a finished hand."""
    sign = 1 if digger_wins else -1
    return [sign * stake * (rules.players - 1 if seat == digger else -1) for seat in range(rules.players)]


def escape_scores(rules: SimpleNamespace, leaver: int, digger: int | None, stake: int) -> list[int]:
    """What each seat gets when one leaves; `stake` is that of a hand lost by the leaver's side."""
    penalty = rules.escape_factor * rules.base
    scores = [0] * rules.players
    if digger is not None and rules.escape_settles:
        winning = scores_of(rules, digger, stake, digger_wins=leaver != digger)
        scores = [max(0, score) for score in winning]
        penalty = max(penalty, (rules.players - 1) * stake)
    scores[leaver] = -penalty
    return scores


# --- docs/rules.md 3: a hand, phase by phase ------------------------------------------------------------------------


def ranks_of(cards: Sequence[str]) -> str:
    """The ranks of cards, ascending, as a play's token writes them."""
    return "".join(card[0] for card in sorted(cards, key=DECK.index))


class Game:
    """One hand. `turn`, `phase` and `legal` are the open question, `act` answers it; `result` stands at END."""

    def __init__(
        self,
        rules: SimpleNamespace,
        deal: SimpleNamespace,
        *,
        blind_first_seat: int | None = None,
        assigned_digger: int | None = None,
    ) -> None:
        self.rules, self.deal, self.assigned_digger = rules, deal, assigned_digger
        self.blind_first_seat = deal.first_dealt_seat if blind_first_seat is None else blind_first_seat
        self.seats = list(range(rules.players))
        self.dealt = False
        self.hands: list[list[str]] = [list(hand) for hand in deal.hands]
        self.digger: int | None = None
        self.bid = self.bid_made = self.grabs = self.bombs = 0
        self.opened = self.blind = False
        self.lying: int | None = None
        self.buried: str | None = None
        self.table: str | None = None
        self.holder: int | None = None
        self.played: list[tuple[int, str]] = []
        self.history: list[str] = []
        self.decisions: list[tuple[int, str, str]] = []
        self.result: SimpleNamespace | None = None
        self.turn, self.phase, self.legal = -1, "", list[str]()
        self._steps = self._run()
        next(self._steps)

    def act(self, token: str) -> None:
        """Answer the open question with one of `legal`."""
        assert token in self.legal, (token, self.legal)
        self.decisions.append((self.turn, self.phase, token))
        if not self.phase.startswith("LIE_DOWN"):
            self.history.append(f"{self.turn}:{self.phase}:{token}")
        try:
            self._steps.send(token)
        except StopIteration:
            self.turn, self.phase, self.legal = -1, "END", []

    def _ask(self, seat: int, phase: str, legal: list[str]) -> Answer:
        self.turn, self.phase, self.legal = seat, phase, legal
        return (yield)

    def _round(self, first: int) -> list[int]:
        """All seats in turn order from this one."""
        return [(first + step) % self.rules.players for step in self.seats]

    def _run(self) -> Steps:
        if self.rules.bidding == "assigned":
            self.dealt, self.bid, digger = True, 3, self.assigned_digger
        else:
            digger = yield from self._before_the_kitty()
        assert digger is not None
        self.digger = digger
        self.hands[digger] += self.deal.kitty
        if self.rules.open:
            self.opened = (yield from self._ask(digger, "OPEN", ["no", "yes"])) == "yes"
        if self.rules.bury:
            yield from self._bury(digger)
        if self.hands[digger] and self.rules.lie_down:
            yield from self._lie_down(digger)
        if self.hands[digger]:
            yield from self._play()
        self._finish()

    def _before_the_kitty(self) -> Steps:
        digger = yield from self._blind_round()
        self.dealt = True
        can_be_grabbed = self.blind
        if digger is None:
            digger = yield from self._auction()
            can_be_grabbed = self.bid_made == self.rules.max_bid
        if self.rules.grab and can_be_grabbed:
            digger = yield from self._grab_round(digger)
        return digger

    def _blind_round(self) -> Steps:
        if self.rules.black_dig or self.rules.blind_dig:
            for seat in self._round(self.blind_first_seat):
                if (yield from self._ask(seat, "BLIND", ["no", "yes"])) == "yes":
                    self.bid, self.blind = (4, False) if self.rules.black_dig else (3, True)
                    return seat
        return None

    def lowest_heart_seat(self) -> int:
        """The seat dealt the lowest heart: kitty and burying change nothing."""
        dealt_hearts = [card for hand in self.deal.hands for card in hand if card[1] == "h"]
        lowest = min(dealt_hearts, key=DECK.index)
        return next(seat for seat in self.seats if lowest in self.deal.hands[seat])

    def marked_place(self) -> int | None:
        """The seat dealt the marked card, -1 for the kitty, None without a marked card."""
        if self.deal.marked_card is None:
            return None
        return next((seat for seat in self.seats if self.deal.marked_card in self.deal.hands[seat]), -1)

    def _auction(self) -> Steps:
        place = self.marked_place()
        first = self.lowest_heart_seat() if place is None or place == -1 else place
        digger = first
        for seat in self._round(first):
            bids = [f"bid{bid}" for bid in (1, 2, 3) if self.bid_made < bid <= self.rules.max_bid]
            answer = yield from self._ask(seat, "BID", ["pass", *bids])
            if answer != "pass":
                digger = seat
                self.bid = self.bid_made = int(answer[3])
            if self.bid_made == self.rules.max_bid:
                break
        self.bid = self.bid or 1
        return digger

    def _grab_round(self, bidder: int) -> Steps:
        digger = bidder
        for seat in self._round(bidder)[1:]:
            if (yield from self._ask(seat, "GRAB", ["no", "yes"])) == "yes":
                digger, self.blind = seat, False
                self.grabs += 1
        return digger

    def _bury(self, digger: int) -> Steps:
        held = [rank for rank in RANKS if rank in ranks_of(self.hands[digger])]
        answer = yield from self._ask(digger, "BURY", ["pass", *("bury" + rank for rank in held)])
        if answer != "pass":
            self.buried = min((c for c in self.hands[digger] if c[0] == answer[4]), key=DECK.index)
            self.hands[digger].remove(self.buried)

    def control_points(self, seat: int) -> int:
        """Control points over the dealt cards."""
        return sum(CONTROL_POINTS.get(card[0], 0) for card in self.deal.hands[seat])

    def _lie_down(self, digger: int) -> Steps:
        one, two = [seat for seat in self.seats if seat != digger]
        for seat, partner in ((one, two), (two, one)):
            points, others = self.control_points(seat), self.control_points(partner)
            if points >= self.rules.lie_down_points and points - others >= self.rules.lie_down_margin:
                answer = yield from self._ask(seat, "LIE_DOWN_ASK", ["no", "yes"])
                if answer == "yes":
                    answer = yield from self._ask(partner, "LIE_DOWN_CONSENT", ["no", "yes"])
                if answer == "yes":
                    self.lying = partner
                self.history.append(f"{partner}:LIE_DOWN:lies" if answer == "yes" else "-:LIE_DOWN:refused")

    def _play(self) -> Steps:
        turns = [seat for seat in self._round(self.lowest_heart_seat()) if seat != self.lying]
        passes = 0
        while True:
            seat = turns[0]
            token = yield from self._ask(seat, "PLAY", legal_plays(self.rules, ranks_of(self.hands[seat]), self.table))
            if token == "pass":
                passes += 1
            else:
                self._lay(seat, token)
                passes = 0
                if not self.hands[seat]:
                    return
            if passes == len(turns) - 1:
                self.table, self.holder, passes = None, None, 0
            turns = turns[1:] + turns[:1]

    def _lay(self, seat: int, ranks: str) -> None:
        for rank in ranks:
            self.hands[seat].remove(min((c for c in self.hands[seat] if c[0] == rank), key=DECK.index))
        self.table, self.holder = ranks, seat
        self.played.append((seat, ranks))
        if self.rules.bombs and len(ranks) == 4 and len(set(ranks)) == 1:
            self.bombs += 1

    def stake(self, *, digger_wins: bool) -> int:
        """The stake at this moment, settled that way."""
        return stake_of(
            self.rules, bid=self.bid, bombs=self.bombs, grabs=self.grabs, opened=self.opened,
            lying=self.lying is not None, blind_won=self.blind and digger_wins,
        )  # fmt: skip

    def _finish(self) -> None:
        assert self.digger is not None
        digger_wins = not self.hands[self.digger]
        stake = self.stake(digger_wins=digger_wins)
        self.result = SimpleNamespace(
            winner="DIGGER" if digger_wins else "DEFENDERS", digger=self.digger, bid=self.bid, stake=stake,
            bombs=self.bombs, grabs=self.grabs, opened=self.opened, blind=self.blind, lying_seat=self.lying,
            scores=scores_of(self.rules, self.digger, stake, digger_wins=digger_wins),
            task_bonus=self._task_bonus(digger_wins=digger_wins) if self.rules.tasks else None, escaped_seat=None,
        )  # fmt: skip

    def _task_bonus(self, *, digger_wins: bool) -> list[int]:
        bonus = TASK_BONUS[self.deal.task] * self.rules.base
        earns = [
            seat != self.lying and (seat == self.digger) == digger_wins and self._completes(self.deal.task, seat)
            for seat in self.seats
        ]
        return [bonus if earned else 0 for earned in earns]

    def _completes(self, task: str, seat: int) -> bool:
        """Whether the seat did what the task says, winning aside."""
        plays = [ranks for who, ranks in self.played if who == seat]
        kinds = [(read(ranks) or ("",))[0] for ranks in plays]
        last = self.played[-1][1] if self.played and self.played[-1][0] == seat else None
        return {
            "WIN_AS_DEFENDER": seat != self.digger,
            "WIN_AS_DIGGER": seat == self.digger,
            "OUT_WITH_PAIR": last is not None and kinds[-1] == "PAIR",
            "OUT_WITH_STRAIGHT": last is not None and kinds[-1] == "STRAIGHT",
            "OUT_WITH_SINGLE_4": last == "4",
            "TWO_PAIR_RUNS": kinds.count("PAIR_RUN") >= 2,
            "STRAIGHT_OF_FIVE": any(k == "STRAIGHT" and len(p) >= 5 for k, p in zip(kinds, plays, strict=True)),
            "WIN_WITHOUT_3": not any("3" in ranks for ranks in plays),
            "PLAY_QUAD": "QUAD" in kinds,
        }[task]

    def escape(self, seat: int) -> None:
        """The seat leaves and the hand is over."""
        known = self.digger is not None
        stake = self.stake(digger_wins=seat != self.digger) if known else None
        self.result = SimpleNamespace(
            winner="ESCAPED", digger=self.digger, bid=self.bid if known else None, stake=stake,
            bombs=self.bombs if known else None, grabs=self.grabs if known else None,
            opened=self.opened if known else None, blind=self.blind if known else None, lying_seat=self.lying,
            scores=escape_scores(self.rules, seat, self.digger, stake or 0), task_bonus=None, escaped_seat=seat,
        )  # fmt: skip
        self.turn, self.phase, self.legal = -1, "END", []

    # --- docs/rules.md 8: what a seat may know ----------------------------------------------------------------------

    def observe(self, seat: int) -> dict[str, Any]:
        """All that the seat may know, as plain values."""
        known = self.digger is not None
        return {
            "seat": seat,
            # Nobody else is told that somebody is asked about lying down (3.9): to him it is the moment before PLAY.
            "phase": "PLAY" if self.phase.startswith("LIE_DOWN") and seat != self.turn else self.phase,
            "cards": sorted(self.hands[seat], key=DECK.index) if self.dealt else [],
            "cards_left": [len(hand) if self.dealt else 0 for hand in self.hands],
            "kitty": sorted(self.deal.kitty, key=DECK.index) if known else None,
            "digger": self.digger,
            "bid": self.bid,
            "bombs": self.bombs,
            "grabs": self.grabs,
            "opened": self.opened,
            "blind": self.blind,
            "lying_seat": self.lying,
            "opened_cards": sorted(self.hands[self.digger or 0], key=DECK.index) if self.opened else None,
            "marked_card": self.deal.marked_card,
            "marked_seat": self.marked_place() if self.dealt else None,
            "task": self.deal.task if known else None,
            "table": self.table,
            "table_seat": self.holder,
            "history": list(self.history),
        }
