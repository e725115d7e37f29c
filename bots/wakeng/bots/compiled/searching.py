"""The search: the likeliest few plays are tried in many worlds, each played out to the end.

1. The network orders the plays. The best few are kept, and of these not those that it finds clearly worse.
2. In each world the hidden cards are dealt anew, and every kept play is followed by a whole hand, in which one policy
   plays all seats: `expert` in every second world, the network in the others. Rollouts that play just like the enemies
   at the table would flatter, and lose to others.
3. The network's own value counts as much as so many worlds.

The same worlds serve every play, so what luck there is in them cancels.
"""

from wakeng.bots.compiled.cards import CARDS, Ints
from wakeng.bots.compiled.chance import State
from wakeng.bots.compiled.features import role
from wakeng.bots.compiled.jit import fast_kernel
from wakeng.bots.compiled.judge import Bytes
from wakeng.bots.compiled.legal import legal
from wakeng.bots.compiled.playout import EXPERT, NET, deal_world, play_out
from wakeng.bots.compiled.state import COUNT, DIGGER, HAND, TABLE, TURN, step
from wakeng.bots.compiled.value import Doubles, Room, Value, judge

MOST_WIDTH = 8


@fast_kernel
def keep_best(room: Room, count: int, width: int, margin: float, kept: Ints, scores: Doubles) -> int:
    """Write the best plays of `room` and their values, the best first; how many are within the margin."""
    found = 0
    while found < min(width, count):
        best = 0
        for at in range(1, count):
            if room.values[at] > room.values[best]:
                best = at
        if found and room.values[best] < scores[0] - margin:
            break
        kept[found], scores[found] = room.plays[best], room.values[best]
        room.values[best] = -1e300
        found += 1
    return found


@fast_kernel
def outcome(net: Value, table: Bytes, s: Ints, world: Ints, play: int, policy: int, room: Room) -> int:
    """The units of the side to move in `world` when it plays so; `s` is a copy to be spent."""
    s[:] = world
    seat = s[TURN]
    if step(s, play):
        return 1
    result = play_out(net, table, s, policy, room)
    return result if seat == s[DIGGER] else -result


@fast_kernel
def pick(
    net: Value, table: Bytes, s: Ints, worlds: int, width: int, margin: float, prior: float, chance: State, room: Room,
    kept: Ints, scores: Doubles, cards: Ints,
) -> int:  # fmt: skip
    """The play of the seat to move. Its own hand must stand in `s`; the others' are filled in."""
    seat = s[TURN]
    count = legal(s[HAND + seat], s[TABLE], room.plays)
    if count == 1:
        return room.plays[0]
    for at in range(count):
        if room.plays[at] and CARDS[room.plays[at]] == s[COUNT + seat]:
            return room.plays[at]
    unit = net.unit[role(s, seat)]
    judge(net, table, s, count, room)
    count = keep_best(room, count, width, margin / unit, kept, scores)
    if count == 1:
        return kept[0]
    for at in range(count):
        scores[at] *= unit * prior
    for world in range(worlds):
        deal_world(s, seat, chance, cards)
        policy = NET if world % 2 else EXPERT
        for at in range(count):
            scores[at] += outcome(net, table, room.position, s, kept[at], policy, room)
    best = 0
    for at in range(1, count):
        if scores[at] > scores[best]:
            best = at
    return kept[best]


@fast_kernel
def weigh(net: Value, table: Bytes, s: Ints, room: Room, plays: Ints, results: Ints) -> int:
    """For open cards: each legal play, and the units that it brings with either policy; how many."""
    count = legal(s[HAND + s[TURN]], s[TABLE], plays)
    for at in range(count):
        for policy in range(2):
            results[at, policy] = outcome(net, table, room.position, s, plays[at], policy, room)
    return count
