"""Standings as messages lose nothing: what commands print of a running arena is what they print of a store."""

from __future__ import annotations

import random
from typing import Any

import pytest

from wakeng.services.store import MatchState
from wakeng.services.tournament.messages import FINAL, STATES, standings_dict, standings_message
from wakeng.services.tournament.statistics import Block, HandResult, SprtOptions, block_of, standings
from wakeng.v1 import tournament_pb2


def rotation(number: int, bots: tuple[str, ...], draw: random.Random, *, leaver: int | None = None) -> Block:
    """A block in which the first bot does well."""
    hands = []
    for turn in range(len(bots)):
        seats = tuple(bots[(seat - turn) % len(bots)] for seat in range(len(bots)))
        digger = draw.randrange(len(bots))
        stake = draw.choice((1, 2, 3)) * (1 if draw.random() < 0.5 + 0.2 * (seats[digger] == bots[0]) else -1)
        scores = tuple(float(stake * (len(bots) - 1) if seat == digger else -stake) for seat in range(len(bots)))
        hands.append(
            HandResult(
                number,
                turn,
                seats,
                scores,
                digger=digger,
                digger_won=stake > 0,
                escaped_seat=leaver if turn == 0 else None,
                bids=tuple(seat == digger for seat in range(len(bots))),
                faults=({"DEADLINE": 2}, {}, {}) if turn == 1 else (),
                played=3 * number + turn,
            )
        )
    return block_of(hands)


def field() -> dict[str, Any]:
    draw = random.Random(1)
    bots = ("a", "b", "c")
    blocks = [rotation(number, bots, draw, leaver=0 if number == 5 else None) for number in range(30)]
    told = standings(
        blocks, [*bots, "never seated"], planned=40, differing={"window": 3, "alpha": 0.01, "duplicate": False},
        commitment="ab" * 32, adaptive=True,
    )  # fmt: skip
    return told.to_dict()


def pair() -> dict[str, Any]:
    draw = random.Random(2)
    blocks = []
    for number in range(60):
        chair = number % 3
        mine = tuple("a" if seat == chair else "b" for seat in range(3))
        theirs = tuple("b" if seat == chair else "a" for seat in range(3))
        values = [draw.choice((-3.0, 6.0)), draw.choice((-3.0, 6.0))]
        hands = [
            HandResult(
                number, turn, seats, tuple(value if seat == chair else -value / 2 for seat in range(3)), digger=0
            )
            for turn, (seats, value) in enumerate(zip((mine, theirs), values, strict=True))
        ]
        blocks.append(block_of(hands))
    return standings(blocks, ["a", "b"], test=SprtOptions(two_sided=True)).to_dict()


@pytest.mark.parametrize(
    "told", [field(), pair(), standings([], ["a", "b", "c"]).to_dict()], ids=["field", "pair", "nothing"]
)
def test_standings_come_back_as_they_went(told: dict[str, Any]) -> None:
    message = tournament_pb2.Standings.FromString(standings_message_bytes(told))
    assert standings_dict(message) == told


def standings_message_bytes(told: dict[str, Any]) -> bytes:
    class Told:
        """Standings by what they tell of themselves."""

        def to_dict(self) -> dict[str, Any]:
            return {**told, "groups": list(told["groups"]), "cross_table": dict(told["cross_table"])}

    return standings_message(Told()).SerializeToString()  # type: ignore[arg-type]


def test_every_state_of_the_store_has_its_word_on_the_wire() -> None:
    assert {tournament_pb2.TournamentState.Name(value) for value in STATES.values()} == {
        f"TOURNAMENT_STATE_{state.value}" for state in MatchState
    }
    assert {STATES[state] for state in MatchState if state.final} == FINAL
