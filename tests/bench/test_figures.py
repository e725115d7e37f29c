"""How repeated measurements become a figure."""

from collections.abc import Awaitable, Callable

from wakeng.services.bench.figures import Figure, interleave, ratio


def test_a_figure_is_quoted_by_its_median_and_its_range() -> None:
    figure = Figure.of([3.0, 1.0, 8.0])
    assert figure.median == 3.0
    assert figure.range == (1.0, 8.0)


def test_a_ratio_is_taken_round_by_round_so_that_a_drifting_machine_leaves_it_alone() -> None:
    assert ratio(Figure.of([20.0, 200.0, 40.0]), Figure.of([10.0, 100.0, 20.0])) == Figure.of([2.0, 2.0, 2.0])


async def test_contestants_take_turns_forwards_and_backwards() -> None:
    turns: list[str] = []

    def contestant(name: str) -> Callable[[], Awaitable[int]]:
        async def measure() -> int:
            turns.append(name)
            return len(turns)

        return measure

    contestants = {"a": contestant("a"), "b": contestant("b")}
    found = await interleave(contestants, rounds=3, say=lambda text: None)
    assert turns == ["a", "b", "b", "a", "a", "b"]
    assert found == {"a": [1, 4, 5], "b": [2, 3, 6]}
