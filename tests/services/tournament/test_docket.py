"""Which hands an executor may begin: those of the blocks it was handed, less what is recorded of them."""

from tests.services.tournament.worlds import spec_of
from wakeng.services.tournament.docket import Docket, Work
from wakeng.services.tournament.schedule import Schedule, schedule_of

SPEC = spec_of(5, blocks=9)
SCHEDULE: Schedule[object] = schedule_of(SPEC)
BLOCKS = [block for _ in range(9) if (block := SCHEDULE.next()) is not None]


def work(index: int, done: tuple[int, ...] = (), voids: dict[int, int] | None = None) -> Work:
    return Work(BLOCKS[index], SPEC.dealer.hands(BLOCKS[index]), frozenset(done), voids or {})


def turns(docket: Docket) -> list[tuple[int, int, int]]:
    return [(turn.block.index, turn.hand.place, turn.attempt) for turn in docket.ready()]


def test_blocks_may_come_in_any_order_and_the_oldest_is_played_first() -> None:
    docket = Docket(3)
    for index in (4, 1, 2):
        docket.add(work(index))
    assert turns(docket) == [(1, 0, 0), (2, 0, 0), (4, 0, 0)]
    assert len(docket) == 3


def test_what_is_recorded_is_not_played_and_voids_go_on_counting() -> None:
    docket = Docket(3)
    docket.add(work(0, done=(0, 2), voids={1: 2}))
    assert turns(docket) == [(0, 1, 2)]
    docket.started(0)
    assert docket.voided(0)
    assert 0 not in docket


def test_a_block_that_is_over_or_here_already_is_not_added() -> None:
    docket = Docket(3)
    docket.add(work(0, done=(0, 1, 2)))
    docket.add(work(1, voids={0: 3}))
    docket.add(work(2))
    docket.started(2)
    docket.add(work(2))
    assert turns(docket) == []
    assert not docket.finished(2)
    assert turns(docket) == [(2, 1, 0)]


def test_a_block_that_is_taken_away_is_gone_whether_a_hand_of_it_is_in_play_or_not() -> None:
    docket = Docket(3)
    docket.add(work(0))
    docket.add(work(1))
    docket.started(0)
    for index in (0, 1, 5):
        docket.remove(index)
    assert turns(docket) == []
    assert len(docket) == 0
