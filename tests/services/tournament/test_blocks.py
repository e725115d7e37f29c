"""The hands of a block: seats, deals, diggers and the order of play (docs/statistics.md 2)."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.engine import derive
from wakeng.engine.deal import Stream
from wakeng.services.tournament.blocks import Block, BlockHand, BlockKind, Dealer, cyclic_order

ZERO = bytes(32)
BLOCKS = st.integers(0, 10_000)
PLAYERS = st.sampled_from([3, 4])


def block(index: int, players: int, kind: BlockKind = BlockKind.ROTATION) -> Block:
    line_up = (0, 1) if kind is BlockKind.SWAP else (2, 3, 5, 7)[:players]
    return Block(index, kind, line_up, line_up)


def by_turn(hands: tuple[BlockHand, ...]) -> list[BlockHand]:
    return sorted(hands, key=lambda hand: hand.turn)


@pytest.mark.parametrize(
    ("line_up", "orders"), [("abc", "abc acb abc"), ("abcd", "abcd abdc acbd acdb adbc adcb abcd")]
)
def test_the_first_bot_stays_and_the_others_take_their_orders_in_turn(line_up: str, orders: str) -> None:
    numbers = tuple(range(len(line_up)))
    found = ["".join(line_up[i] for i in cyclic_order(numbers, j)) for j in range(orders.count(" ") + 1)]
    assert " ".join(found) == orders


@given(BLOCKS, PLAYERS)
def test_a_rotation_takes_every_bot_through_every_seat_of_one_deal(index: int, players: int) -> None:
    hands = Dealer(seed=ZERO, players=players).hands(block(index, players))
    assert len(hands) == players
    assert {hand.seed for hand in hands} == {derive(ZERO, "deal", index)}
    for hand in hands:
        for place, bot in enumerate((2, 3, 5, 7)[:players]):
            assert hand.bots[(place + hand.turn) % players] == bot
        assert hand.assigned_digger is None
    for seat in range(players):
        assert len({hand.bots[seat] for hand in hands}) == players


def test_hands_are_played_in_an_order_drawn_for_the_block() -> None:
    orders = set()
    for index in range(60):
        turns = list(range(4))
        Stream(derive(ZERO, "rotation", index)).shuffle(turns)
        hands = Dealer(seed=ZERO, players=4).hands(block(index, 4))
        assert [hand.turn for hand in hands] == turns
        assert [hand.place for hand in hands] == [0, 1, 2, 3]
        orders.add(tuple(turns))
    assert len(orders) > 20


@given(BLOCKS, PLAYERS)
def test_where_bidding_is_assigned_one_seat_digs_and_so_each_bot_once(index: int, players: int) -> None:
    hands = Dealer(seed=ZERO, players=players, assigned=True).hands(block(index, players))
    assert {hand.assigned_digger for hand in hands} == {index % players}
    assert {hand.bots[index % players] for hand in hands} == set(block(index, players).line_up)


@given(BLOCKS, PLAYERS)
def test_permutations_seat_the_bots_in_every_order_on_one_deal(index: int, players: int) -> None:
    kind = BlockKind.PERMUTATION
    hands = Dealer(seed=ZERO, players=players).hands(block(index, players, kind))
    assert [hand.bots for hand in by_turn(hands)] == list(permutations((2, 3, 5, 7)[:players]))
    assert len({hand.seed for hand in hands}) == 1
    assert len(hands) == kind.hands(players)


@given(BLOCKS, PLAYERS, st.booleans())
def test_a_swap_pair_has_each_bot_alone_in_the_chair_once(index: int, players: int, assigned: bool) -> None:  # noqa: FBT001
    hands = Dealer(seed=ZERO, players=players, assigned=assigned).hands(block(index, players, BlockKind.SWAP))
    chair = index % players
    a_alone, b_alone = by_turn(hands)
    assert a_alone.bots == tuple(0 if seat == chair else 1 for seat in range(players))
    assert b_alone.bots == tuple(1 if seat == chair else 0 for seat in range(players))
    assert a_alone.seed == b_alone.seed == derive(ZERO, "deal", index)
    assert hands[0] is (a_alone if index % 2 == 0 else b_alone)
    assert {hand.assigned_digger for hand in hands} == {chair if assigned else None}


@given(st.sampled_from([BlockKind.ROTATION, BlockKind.SWAP]), PLAYERS)
def test_without_duplicate_deals_every_hand_has_its_own_and_seats_change_as_before(
    kind: BlockKind, players: int
) -> None:
    dealer, duplicate = Dealer(seed=ZERO, players=players, duplicate=False), Dealer(seed=ZERO, players=players)
    blocks = [block(index, players, kind) for index in range(20)]
    hands = [hand for one in blocks for hand in dealer.hands(one)]
    assert [hand.deal for hand in hands] == list(range(len(hands)))
    assert [hand.seed for hand in hands] == [derive(ZERO, "deal", deal) for deal in range(len(hands))]
    assert [hand.bots for hand in hands] == [hand.bots for one in blocks for hand in duplicate.hands(one)]


@given(st.sampled_from(BlockKind), PLAYERS)
def test_hands_are_numbered_on_through_the_tournament(kind: BlockKind, players: int) -> None:
    dealer = Dealer(seed=ZERO, players=players)
    numbers = [hand.number for index in range(5) for hand in dealer.hands(block(index, players, kind))]
    assert numbers == list(range(5 * kind.hands(players)))
