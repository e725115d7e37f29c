"""The feed of a match: public events in one order, with the same numbers live, from records, and after a break."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.services.tables import play_on, table
from wakeng.engine import Fault
from wakeng.services import feed as feeds
from wakeng.services.feed import NUMBERS_A_HAND, Gone, MatchFeed
from wakeng.services.table import Table
from wakeng.v1 import match_pb2

FINISHED = match_pb2.MATCH_STATE_FINISHED
HANDS = 3


def play(feed: MatchFeed, hand: Table, *, decisions: int = 10_000) -> None:
    """Play on at a table that the feed watches."""
    while decisions and not hand.over:
        token = hand.hand.legal_tokens()[-1]
        decided = hand.answer(token, latency_us=0)
        assert decided is not None
        feed.decided([decided])
        decisions -= 1
    if hand.over:
        feed.hand_ended(hand)


def begin(feed: MatchFeed, index: int, **spec: Any) -> Table:
    hand = table("four_feature", hand_index=index, **spec)
    feed.hand_started(hand)
    return hand


def record(index: int) -> dict[str, Any]:
    return play_on(table("four_feature", hand_index=index)).record()


async def told(feed: MatchFeed, after: int = 0) -> list[match_pb2.MatchEvent]:
    """All events of a feed that is closed."""
    assert feed.closed
    return [event async for event in feed.follow(after)]


def kinds(events: Sequence[match_pb2.MatchEvent]) -> list[str]:
    return [str(event.WhichOneof("event")) for event in events]


def from_records(*indices: int) -> MatchFeed:
    feed = MatchFeed(HANDS)
    for index in indices:
        feed.recorded(record(index))
    feed.close(FINISHED)
    return feed


# What is told --------------------------------------------------------------------------------------------------------


async def test_a_hand_is_its_beginning_its_public_history_and_its_end() -> None:
    feed = MatchFeed(1)
    hand = begin(feed, 0)
    play(feed, hand)
    feed.close(FINISHED)
    first, *happened, ended, state = await told(feed)
    assert first.hand_started == match_pb2.MatchHandStarted(hand_index=0, attempt=0)
    assert [event.hand_event.event for event in happened] == hand.hand.history
    result = hand.hand.result
    assert result is not None
    assert (ended.hand_ended.winner, tuple(ended.hand_ended.scores)) == (result.winner.value, result.scores)
    assert (ended.hand_ended.digger, ended.hand_ended.stake) == (result.digger, result.stake)
    assert state.state == FINISHED


async def test_nothing_hidden_is_told() -> None:
    """Neither cards nor seeds, notes, latencies or the questions of LIE_DOWN; of these only the outcome."""
    feed = MatchFeed(HANDS)
    for index in range(HANDS):
        play(feed, begin(feed, index))
    feed.close(FINISHED)
    for event in await told(feed):
        fields = {field.name for field, _ in event.ListFields()}
        assert fields <= {"sequence", "state", "hand_started", "hand_event", "hand_ended"}
        text = event.hand_event.event
        assert "LIE_DOWN_" not in text and len(text) < 40


async def test_a_hand_that_was_left_says_who_left() -> None:
    feed = MatchFeed(1)
    hand = begin(feed, 0, times={"max_strikes": 1})
    leaver = hand.seat
    hand.fault(Fault.DEADLINE, latency_us=0)
    feed.faulted(hand, leaver, Fault.DEADLINE)
    feed.hand_ended(hand)
    feed.close(FINISHED)
    started, ended, _ = await told(feed)
    assert started.HasField("hand_started")
    assert (ended.hand_ended.winner, ended.hand_ended.escaped_seat) == ("ESCAPED", leaver)
    assert not ended.hand_ended.HasField("digger") and not ended.hand_ended.HasField("stake")


# Numbers -------------------------------------------------------------------------------------------------------------


async def test_hands_played_side_by_side_are_told_one_after_the_other() -> None:
    feed = MatchFeed(HANDS)
    hands = [begin(feed, index) for index in range(HANDS)]
    for hand in reversed(hands):
        play(feed, hand)
    feed.close(FINISHED)
    events = await told(feed)
    numbers = [event.sequence for event in events]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1
    begun = [event.hand_started.hand_index for event in events if event.HasField("hand_started")]
    assert begun == [0, 1, 2]


async def test_events_have_the_same_numbers_live_and_from_records_whatever_the_order_of_play() -> None:
    live = MatchFeed(HANDS)
    hands = [begin(live, index) for index in (1, 0, 2)]
    for turn in range(200):
        if not hands[turn % 3].over:
            play(live, hands[turn % 3], decisions=1 + turn % 2)
    live.close(FINISHED)
    assert all(hand.over for hand in hands)
    assert await told(live) == await told(from_records(0, 1, 2))


async def test_a_match_taken_up_where_hands_are_missing_is_told_with_the_numbers_it_has_anyway() -> None:
    again = MatchFeed(HANDS)
    for index in (0, 2):
        again.recorded(record(index))
    play(again, begin(again, 1))
    again.close(FINISHED)
    assert await told(again) == await told(from_records(0, 1, 2))


async def test_who_comes_back_gets_what_follows_and_nothing_twice() -> None:
    feed = from_records(0, 1, 2)
    events = await told(feed)
    for seen in range(0, len(events), 7):
        assert await told(feed, events[seen].sequence) == events[seen + 1 :]
    assert await told(feed, events[-1].sequence) == []
    assert await told(feed, 1 << 62) == []


async def test_a_voided_hand_begins_again_under_new_numbers_and_the_hands_after_it_keep_theirs() -> None:
    feed = MatchFeed(HANDS)
    hand = begin(feed, 0)
    play(feed, hand, decisions=3)
    feed.hand_voided(hand, "the arena's fault")
    play(feed, begin(feed, 0, attempt=1))
    play(feed, begin(feed, 1))
    feed.close(FINISHED)
    events = await told(feed)
    attempts = [event.hand_started.attempt for event in events if event.HasField("hand_started")]
    assert attempts == [0, 1, 0]
    assert [event.sequence for event in events] == sorted({event.sequence for event in events})
    second = next(event for event in events if event.hand_started.hand_index == 1 and event.HasField("hand_started"))
    assert second.sequence == NUMBERS_A_HAND + 1


async def test_a_match_that_was_cancelled_tells_what_was_finished_beyond_a_gap() -> None:
    live = MatchFeed(HANDS)
    play(live, begin(live, 0))
    begin(live, 1)
    play(live, begin(live, 2))
    live.close(match_pb2.MATCH_STATE_CANCELLED)
    finished = [event.hand_ended.hand_index for event in await told(live) if event.HasField("hand_ended")]
    assert finished == [0, 2]
    past = await told(from_records(0, 2))
    assert {event.sequence for event in past} < {event.sequence for event in await told(live)}


# Following -----------------------------------------------------------------------------------------------------------


async def test_a_follower_gets_events_as_they_happen_and_ends_with_the_match() -> None:
    feed = MatchFeed(1)
    heard: asyncio.Queue[match_pb2.MatchEvent | None] = asyncio.Queue()

    async def follow() -> None:
        async for event in feed.follow(0):
            heard.put_nowait(event)
        heard.put_nowait(None)

    following = asyncio.create_task(follow())
    hand = begin(feed, 0)
    assert kinds([event for event in [await heard.get()] if event]) == ["hand_started"]
    play(feed, hand, decisions=1)
    event = await heard.get()
    assert event is not None and event.hand_event.event == hand.hand.history[0]
    play(feed, hand)
    feed.close(FINISHED)
    await following
    rest = []
    while (event := await heard.get()) is not None:
        rest.append(event)
    assert kinds(rest[-2:]) == ["hand_ended", "state"]


async def test_a_match_that_only_stops_here_has_no_last_event() -> None:
    feed = MatchFeed(2)
    play(feed, begin(feed, 0))
    feed.close(None)
    assert feed.closed and not feed.complete
    assert kinds(await told(feed))[-1] == "hand_ended"
    assert from_records(0).complete


async def test_of_events_that_are_no_longer_kept_it_says_where_the_rest_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feeds, "MOST_KEPT", 20)
    feed = from_records(0, 1, 2)
    with pytest.raises(Gone) as gone:
        await told(feed)
    rest = await told(feed, gone.value.oldest - 1)
    assert rest[0].sequence == gone.value.oldest
    assert 20 <= len(rest) <= 40
    assert kinds(rest)[-1] == "state"


async def test_a_follower_who_falls_behind_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_KEPT", 20)
    feed = MatchFeed(HANDS)
    hand = begin(feed, 0)
    following = feed.follow(0)
    assert (await anext(following)).sequence == 1
    play(feed, hand)
    play(feed, begin(feed, 1))
    with pytest.raises(Gone):
        async for _ in following:
            pass
