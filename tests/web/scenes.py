"""A store to look at: a tournament that was played, and matches whose bots bear names and notes meant to do harm."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

from wakeng.engine import Fault, Hand, blind_first_seat, derive, hand_seed, rule_set
from wakeng.services.arena import Arena
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec
from wakeng.services.store import MatchState, Store
from wakeng.services.table import HandSpec, Name, Table
from wakeng.services.tournament.run import TournamentRun, create
from wakeng.services.tournament.spec_file import read_spec

HARM: Final = "<img src=x onerror=alert(1)>"
"""A bot's name."""
NOTE: Final = "</script><script>document.title='harm'</script> & \"quoted\""
OFFERED: Final = "<b>nothing</b>"
SEED: Final = bytes(range(32))
TOURNAMENT: Final = "autumn"

FIELD: Final = ("greedy", "lowest", "random", HARM)


def tournament_text(blocks: int, *, name: str = "Autumn Cup", preset: str = "three_feature") -> dict[str, Any]:
    """A spec as a file would have it."""
    bots = [{"name": bot, "builtin": bot if bot != HARM else "random"} for bot in FIELD]
    times = {"move_ms": 60_000, "bank_ms": 60_000}
    return {
        "name": name,
        "rules": {"preset": preset},
        "format": "balanced",
        "blocks": blocks,
        "bots": bots,
        "time_control": times,
    }


async def play_tournament(store: Store, folder: Path, *, blocks: int = 24) -> None:
    """Play it to its end, by bots in this process."""
    made, _ = await create(store, TOURNAMENT, read_spec(tournament_text(blocks), seed=SEED))
    with Journal.open(folder / "journal.jsonl") as journal:
        arena = Arena(store=store, journal=journal, metrics=Metrics())
        try:
            await TournamentRun(arena, made, in_process=True).play()
        finally:
            arena.close()


async def put_match(
    store: Store,
    match_id: str,
    preset: str,
    *,
    hands: int = 3,
    state: MatchState = MatchState.FINISHED,
    owner: str = "",
) -> list[dict[str, Any]]:
    """A match of some hands, with every harm that a record can do; its records."""
    rules = rule_set(preset)
    names = (HARM, "greedy", "lowest", "random")[: rules.players]
    spec = MatchSpec(
        match_id=match_id,
        rules=rules,
        seats=tuple(SeatSpec(SeatKind.REGISTERED, name) for name in names),
        hands=hands,
        seed=SEED,
        owner=owner,
    )
    await store.create_match(
        match_id=match_id, spec=spec.to_dict(), seed=SEED.hex(), commitment=spec.commitment, hands=hands
    )
    records = [harmful_hand(spec, index).record() for index in range(hands)]
    await store.set_state(match_id, MatchState.RUNNING)
    await store.add_records(records)
    if state is not MatchState.RUNNING:
        await store.set_state(match_id, state)
    return records


def harmful_hand(spec: MatchSpec, index: int) -> Table:
    """A hand played at random; seat 0 notes what would do harm, and once answers nonsense."""
    table = Table(
        HandSpec(
            match_id=spec.match_id,
            hand_index=index,
            rules=spec.rules,
            seed=hand_seed(spec.seed, index),
            time_control=spec.time_control,
            names=tuple(Name(seat.bot, "1.0") for seat in spec.seats),
            blind_first_seat=blind_first_seat(spec.rules, spec.seed, index),
            match_commitment=spec.commitment,
        )
    )
    random = Random(derive(spec.seed, "choices", index))
    for number in range(10_000):
        if table.over:
            return table
        hand = table.hand
        if hand.turn == 0 and number > 4 and not any(table._strikes):
            table.fault(Fault.MALFORMED, latency_us=900, offered=OFFERED)
            continue
        note = NOTE if hand.turn == 0 else None
        table.answer(_choice(hand, random), latency_us=random.randrange(40, 9_000), note=note)
    raise AssertionError("a hand ends")


def _choice(hand: Hand, random: Random) -> str:
    """At random, but rather a play than a pass, so that hands are of a fair length."""
    legal = hand.legal_tokens()
    return random.choice(legal[1:] if len(legal) > 1 and random.random() < 0.7 else legal)


async def reopen(folder: Path, *, prefix: int) -> None:
    """Make the tournament one that goes on, so many blocks of which count."""
    async with await Store.open(f"sqlite:///{folder / 'wakeng.db'}") as store:
        kept = await store.pages.standings_of(TOURNAMENT)
        assert kept is not None
        told = {**kept.standings, "prefix": prefix}
        await store.pages.keep_standings(TOURNAMENT, kept.hands, standings_=told, series=kept.series)
    with closing(sqlite3.connect(folder / "wakeng.db")) as connection, connection:
        connection.execute("update matches set state = 'RUNNING', finished_us = null where match_id = ?", [TOURNAMENT])
