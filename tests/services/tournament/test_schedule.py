"""Which block comes next: from the seed and the results of completed rounds alone (docs/statistics.md 2, 7, 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.worlds import ZERO, Scores, fold, play, rate, schedule, spec_of
from wakeng.engine import derive
from wakeng.services.tournament.blocks import Block, BlockKind
from wakeng.services.tournament.line_ups import LineUp, all_line_ups, gauntlet
from wakeng.services.tournament.pairing import Ratings
from wakeng.services.tournament.schedule import Schedule, schedule_of
from wakeng.services.tournament.spec import Format, TournamentSpec, tournament_rules


def issued(plan: Schedule[Scores]) -> list[Block]:
    """What it gives out before it wants results."""
    return list(iter(plan.next, None))


def complete(spec: TournamentSpec, plan: Schedule[Scores], blocks: Sequence[Block]) -> None:
    for block in blocks:
        plan.completed(block.index, fold(block, [play(hand) for hand in spec.dealer.hands(block)]))


def played(spec: TournamentSpec, rounds: int) -> list[list[Block]]:
    """The blocks of so many rounds, each completed before the next."""
    plan = schedule(spec)
    found = []
    for _ in range(rounds):
        found.append(issued(plan))
        complete(spec, plan, found[-1])
    return found


def text(blocks: Sequence[Block]) -> str:
    return " ".join("".join(map(str, block.line_up)) for block in blocks)


# Formats that need no results ---------------------------------------------------------------------


def test_a_round_robin_goes_through_all_line_ups_and_then_ends() -> None:
    plan = schedule(spec_of(5, blocks=200))
    blocks = issued(plan)
    assert [block.index for block in blocks] == list(range(200))
    assert [block.line_up for block in blocks] == list(islice(all_line_ups(ZERO, bots=5, players=3), 200))
    assert set(Counter(block.line_up for block in blocks).values()) == {20}
    assert not plan.over


def test_the_balanced_format_gives_the_vectors() -> None:
    spec = spec_of(5, blocks=10, format=Format.BALANCED)
    assert text(issued(schedule(spec))) == "134 023 012 234 014 123 034 012 124 034"


def test_a_gauntlet_is_played_by_the_rule_of_gauntlets() -> None:
    spec = spec_of(7, blocks=20, format=Format.GAUNTLET, challengers=("bot-3", "bot-5"))
    line_ups = list(islice(gauntlet(ZERO, bots=7, players=3, challengers=(3, 5)), 20))
    assert [block.line_up for block in issued(schedule(spec))] == line_ups


@pytest.mark.parametrize(("rules", "orders"), [("xian", 2), ("four_blind", 6)])
def test_each_time_a_line_up_comes_it_goes_round_in_its_next_order(rules: str, orders: int) -> None:
    spec = spec_of(5, blocks=180, rules=tournament_rules(rules))
    by_line_up: dict[LineUp, list[LineUp]] = {}
    for block in issued(schedule(spec)):
        by_line_up.setdefault(block.line_up, []).append(block.order)
    for line_up, found in by_line_up.items():
        assert len(set(found[:orders])) == orders
        assert found[:orders] == sorted(found[:orders])
        assert found[orders:] == found[:-orders]
        assert {order[0] for order in found} == {line_up[0]}


def test_permutations_have_no_order_of_their_own() -> None:
    blocks = issued(schedule(spec_of(4, blocks=20, block=BlockKind.PERMUTATION)))
    assert all(block.order == block.line_up for block in blocks)


# Results ------------------------------------------------------------------------------------------


def test_results_are_taken_in_schedule_order_and_no_other() -> None:
    plan = schedule(spec_of(5, blocks=3))
    with pytest.raises(ValueError, match="block 0 of 0, not 0"):
        plan.completed(0, {})
    blocks = issued(plan)
    with pytest.raises(ValueError, match="block 0 of 3, not 1"):
        plan.completed(1, {})
    for block in blocks:
        plan.completed(block.index, {})
    assert plan.over
    with pytest.raises(ValueError, match="block 3 of 3, not 3"):
        plan.completed(3, {})


# sprt ---------------------------------------------------------------------------------------------


def test_a_test_plays_swap_pairs_until_it_is_decided() -> None:
    seen = []

    def stop(result: Scores) -> bool:
        seen.append(result)
        return len(seen) == 4

    plan: Schedule[Scores] = schedule_of(spec_of(2, format=Format.SPRT), stop=stop)
    blocks = [plan.next() for _ in range(8)]
    assert all(block is not None and (block.kind, block.line_up) == (BlockKind.SWAP, (0, 1)) for block in blocks)
    plan.completed(0, {0: 0.0})
    plan.completed(1, None)  # Struck off: the test does not hear of it.
    for index in range(2, 5):
        assert not plan.over
        plan.completed(index, {0: float(index)})
    assert plan.over and plan.stopped
    assert (plan.counted, plan.issued) == (5, 8)
    assert seen == [{0: 0.0}, {0: 2.0}, {0: 3.0}, {0: 4.0}]
    assert plan.next() is None
    with pytest.raises(ValueError, match="in schedule order"):
        plan.completed(5, {0: 5.0})


def test_an_undecided_test_ends_with_its_last_block() -> None:
    spec = spec_of(2, format=Format.SPRT)
    plan: Schedule[Scores] = schedule_of(spec, stop=lambda result: False)
    assert len(issued(plan)) == spec.max_blocks == 5040


# Swiss --------------------------------------------------------------------------------------------


def meetings(rounds: Sequence[Sequence[Block]]) -> Counter[LineUp]:
    return Counter(pair for blocks in rounds for block in blocks for pair in combinations(block.line_up, 2))


def test_swiss_rounds_1_and_2_sit_as_they_are_drawn() -> None:
    rounds = played(spec_of(9, format=Format.SWISS), 2)
    for number, blocks in enumerate(rounds, 1):
        drawn = sorted(range(9), key=lambda bot, number=number: derive(ZERO, "swiss", number * 9 + bot))  # type: ignore[misc]
        tables = [tuple(sorted(drawn[i : i + 3])) for i in (0, 3, 6)]
        # Every table plays two blocks, which go round in different orders.
        assert [block.line_up for block in blocks] == [table for table in tables for _ in range(2)]
        assert all(blocks[i].order != blocks[i + 1].order for i in (0, 2, 4))


def test_swiss_waits_for_the_whole_round() -> None:
    spec = spec_of(9, format=Format.SWISS)
    plan = schedule(spec)
    blocks = issued(plan)
    assert len(blocks) == 6
    complete(spec, plan, blocks[:-1])
    assert plan.next() is None
    complete(spec, plan, blocks[-1:])
    assert plan.next() is not None


def by_rank(spec: TournamentSpec, rounds: list[list[Block]], ranked: list[int], players: int) -> list[LineUp]:
    """The tables of the next round, written out again from docs/statistics.md 9."""
    met = meetings(rounds)
    games = Counter(bot for blocks in rounds for block in blocks for bot in block.line_up)
    order = sorted(ranked, key=lambda bot: (games[bot], ranked.index(bot)))  # The last of these sit out.
    unseated = [bot for bot in ranked if bot in order[: len(ranked) - len(ranked) % players]]
    tables = []
    while unseated:
        table = [unseated.pop(0)]
        for _ in range(players - 1):
            near = unseated[: max(players, 4)]
            counts = [sum(met[min(bot, other), max(bot, other)] for other in table) for bot in near]
            table.append(near[counts.index(min(counts))])
            unseated.remove(table[-1])
        tables.append(tuple(sorted(table)))
    return tables


@pytest.mark.parametrize(("rules", "players"), [("xian", 3), ("four_blind", 4)])
@pytest.mark.parametrize("bots", [8, 11, 12])
def test_later_swiss_rounds_are_seated_by_rank(rules: str, players: int, bots: int) -> None:
    spec = spec_of(bots, format=Format.SWISS, rules=tournament_rules(rules))
    plan = schedule(spec)
    rounds: list[list[Block]] = []
    results: list[Scores] = []
    for number in range(1, spec.swiss_rounds + 1):
        blocks = issued(plan)
        if number > 2:
            theta = rate(bots)(results).theta
            ranked = sorted(range(bots), key=lambda bot: -round(theta[bot], 9))
            assert [block.line_up for block in blocks[::2]] == by_rank(spec, rounds, ranked, players)
        complete(spec, plan, blocks)
        results += [fold(block, [play(hand) for hand in spec.dealer.hands(block)]) for block in blocks]
        rounds.append(blocks)
    assert plan.over
    assert sum(map(len, rounds)) == spec.planned_blocks


@given(st.integers(4, 14), st.sampled_from(["xian", "four_blind"]), st.binary(min_size=32, max_size=32))
def test_in_swiss_sitting_out_goes_round(bots: int, rules: str, seed: bytes) -> None:
    spec = spec_of(bots, format=Format.SWISS, rules=tournament_rules(rules), seed=seed)
    games: Counter[int] = Counter(range(bots))
    for blocks in played(spec, spec.swiss_rounds):
        seated = [bot for block in blocks[::2] for bot in block.line_up]
        assert len(set(seated)) == len(seated) == bots - bots % spec.rules.players
        games.update(seated)
    assert max(games.values()) - min(games.values()) <= 1


def test_level_bots_are_ranked_in_the_order_of_the_field_whatever_the_last_bits_say() -> None:
    def level(results: Sequence[Scores]) -> Ratings:
        noise = [(-1) ** bot * 1e-15 for bot in range(9)]
        return Ratings(noise, noise, [1.0] * 9)

    spec = spec_of(9, format=Format.SWISS)
    noisy, exact = (
        schedule_of(spec, rate=rated) for rated in (level, lambda results: Ratings([0.0] * 9, [0.0] * 9, [1.0] * 9))
    )
    for _ in range(spec.swiss_rounds):
        blocks = issued(noisy)
        assert blocks == issued(exact)
        complete(spec, noisy, blocks)
        complete(spec, exact, blocks)


# Ladder -------------------------------------------------------------------------------------------


def ladder(f: list[float], errors: list[float], *, blocks: int) -> list[list[Block]]:
    """Two rounds of a ladder in which the ratings after the first are these."""
    spec = spec_of(len(f), format=Format.LADDER)
    plan: Schedule[Scores] = schedule_of(spec, rate=lambda results: Ratings(f, f, errors))
    rounds = []
    for _ in range(2):
        rounds.append(issued(plan))
        complete(spec, plan, rounds[-1])
    return rounds


def test_the_first_round_of_a_ladder_seats_all_alike() -> None:
    spec = spec_of(9, format=Format.LADDER)
    (blocks,) = played(spec, 1)
    games = Counter(bot for block in blocks for bot in block.line_up)
    assert len(blocks) == 9
    assert sorted(games) == list(range(9))
    assert max(games.values()) - min(games.values()) <= 2


def test_the_bot_whose_place_is_least_certain_plays_its_nearest() -> None:
    f = [0.0, 1.0, 2.0, 2.1, 3.0, 4.0, 5.0, 6.0, 7.0]
    errors = [1.0] * 9
    errors[2] = 9.0
    met = meetings(ladder(f, errors, blocks=1)[:1])
    first = ladder(f, errors, blocks=1)[1][0]
    games = Counter(bot for block in ladder(f, errors, blocks=1)[0] for bot in block.line_up)
    assert min(games.values()) * 2 * 9 >= sum(games.values()), "nobody starves, so the most urgent comes first"
    distance = {bot: abs(f[bot] - 2.0) + 0.1 * met[min(bot, 2), max(bot, 2)] for bot in range(9) if bot != 2}
    nearest = sorted(distance, key=distance.__getitem__)[:2]
    assert first.line_up == tuple(sorted((2, *nearest)))


def test_a_round_of_a_ladder_does_not_go_to_one_bot_alone() -> None:
    errors = [1.0] * 9
    errors[4] = 3.0
    blocks = ladder([float(bot) for bot in range(9)], errors, blocks=9)[1]
    assert 1 < sum(4 in block.line_up for block in blocks) < 9


@settings(max_examples=25)
@given(st.integers(4, 12), st.binary(min_size=32, max_size=32))
def test_nobody_starves_on_a_ladder(bots: int, seed: bytes) -> None:
    spec = spec_of(bots, format=Format.LADDER, seed=seed)
    games: Counter[int] = Counter(dict.fromkeys(range(bots), 0))
    for blocks in played(spec, 12):
        for block in blocks:
            starved = [bot for bot in games if 2 * games[bot] * bots < games.total()]
            if starved:
                assert games[min(block.line_up, key=games.__getitem__)] == min(games[bot] for bot in starved)
            games.update(block.line_up)
    assert min(games.values()) * bots >= games.total() / 2 - bots


def test_a_ladder_goes_on_for_ever() -> None:
    assert len(played(spec_of(5, format=Format.LADDER), 40)[-1]) == 5
    assert sum(map(len, played(spec_of(5, format=Format.LADDER, blocks=33), 40))) == 33


def test_rounds_that_came_to_nothing_leave_all_level() -> None:
    for form in (Format.SWISS, Format.LADDER):
        plan = schedule(spec_of(9, format=form))
        for _ in range(3):
            for block in issued(plan):
                plan.completed(block.index, None)
        assert issued(plan)


@pytest.mark.parametrize("form", [Format.SWISS, Format.LADDER])
def test_without_ratings_there_is_no_such_schedule(form: Format) -> None:
    with pytest.raises(ValueError, match=f"a {form.value} schedule needs somebody to rate the bots"):
        schedule_of(spec_of(9, format=form))
