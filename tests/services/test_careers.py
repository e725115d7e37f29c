"""The store tells what a bot has played, newest first, and its sums by rules and role."""

from typing import Any

import pytest

from tests.services.records import played
from wakeng.services.errors import BadPageToken
from wakeng.services.store import Career, HandRole, Store, Sums

XIAN, PIT = {"preset": "xian"}, {"preset": "three_feature", "tasks": True}


async def made(store: Store, match_id: str, rules: dict[str, Any]) -> None:
    await store.create_match(match_id=match_id, spec={"rules": rules}, seed="0", commitment="0", hands=9)


def seated(match_id: str, hand_index: int, *bots: str, **others: Any) -> dict[str, Any]:
    return {**played(match_id, hand_index, **others), "seats": [{"bot": bot} for bot in bots]}


async def test_a_bots_hands_come_newest_first_page_by_page(store: Store) -> None:
    await made(store, "m1", PIT)
    await made(store, "m2", PIT)
    await store.add_records([seated("m1", index, "a", "b", "c") for index in range(3)])
    await store.add_records([seated("m2", 0, "b", "c", "d"), seated("m2", 1, "a", "c", "a")])
    found, token = [], ""
    for size in (2, 2, 1):
        page = await store.careers.hands("a", 2, token)
        assert len(page.hands) == size
        found += [(hand.match_id, hand.hand_index, hand.seat) for hand in page.hands]
        token = page.next_page_token
    assert found == [("m2", 1, 2), ("m2", 1, 0), ("m1", 2, 0), ("m1", 1, 0), ("m1", 0, 0)]
    assert token == ""
    assert (await store.careers.hands("nobody")).hands == (await store.careers.hands("\0")).hands == ()


async def test_a_hand_says_what_its_record_says(store: Store) -> None:
    await made(store, "m1", PIT)
    records = [seated("m1", index, "a", "b", "c") for index in range(20)]
    records += [seated("m1", 20, "a", "b", "c", escaped_seat=1)]
    records[0]["result"]["task_bonus"] = [3, 0, 0]
    await store.add_records(records)
    for hand in (await store.careers.hands("b", 99)).hands:
        result = records[hand.hand_index]["result"]
        escaped = result["winner"] == "ESCAPED"
        assert hand.score == result["scores"][1]
        assert hand.task_bonus == (result["task_bonus"][1] if "task_bonus" in result else None)
        assert hand.escaped is escaped
        assert hand.finished_us > 0
        if escaped:
            assert (hand.role, hand.won) == (HandRole.NEITHER, None)
        else:
            digs = result["digger"] == 1
            assert hand.role is (HandRole.DIGGER if digs else HandRole.DEFENDER)
            assert hand.won is ((result["winner"] == "DIGGER") is digs)


async def test_sums_are_those_of_the_hands_by_rules_and_role(store: Store) -> None:
    await made(store, "m1", PIT)
    await made(store, "m2", dict(reversed(PIT.items())))
    await made(store, "m3", XIAN)
    for match_id in ("m1", "m2", "m3"):
        await store.add_records([seated(match_id, index, "a", "b", "c") for index in range(10)])
    await store.add_records([seated("m3", 10, "a", "b", "c", escaped_seat=0)])
    careers = {(career.rules["preset"], career.role): career for career in await store.careers.sums("a")}
    hands = (await store.careers.hands("a", 99)).hands
    for (preset, role), career in careers.items():
        of_rules = [hand for hand in hands if (hand.match_id == "m3") is (preset == "xian") and hand.role is role]
        assert career.sums == Sums(
            hands=len(of_rules),
            decided=sum(hand.won is not None for hand in of_rules),
            wins=sum(bool(hand.won) for hand in of_rules),
            score=sum(hand.score for hand in of_rules),
            task_bonus=sum(hand.task_bonus or 0 for hand in of_rules),
            escapes=sum(hand.escaped for hand in of_rules),
        )
    assert sum((career.sums for career in careers.values()), Sums()).hands == len(hands) == 31
    neither = Career(rules=XIAN, role=HandRole.NEITHER, sums=careers["xian", HandRole.NEITHER].sums)
    assert careers["xian", HandRole.NEITHER] == neither
    assert (neither.sums.hands, neither.sums.escapes) == (1, 1)
    assert await store.careers.sums("nobody") == await store.careers.sums("\0") == ()


@pytest.mark.parametrize("token", ["x", "é", "bnVsbA==", "WzEsMl0=", "WzEsIm0iLDAsMjE0NzQ4MzY0OF0="])
async def test_a_token_that_no_page_gave_is_refused(store: Store, token: str) -> None:
    with pytest.raises(BadPageToken, match="page_token"):
        await store.careers.hands("a", 10, token)
