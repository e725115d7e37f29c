"""Random numbers for kernels: SplitMix64, whose whole state is one uint64, so that a run can stop and go on."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled.cards import Ints
from wakeng.bots.compiled.jit import kernel

State = NDArray[np.uint64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def source(seed: int) -> State:
    """The state that a seed stands for."""
    return np.array([seed], np.uint64)


@kernel
def draw(chance: State) -> Any:
    """The next 64 bits."""
    chance[0] += _STEP
    mixed = chance[0]
    mixed = (mixed ^ mixed >> np.uint64(30)) * _FIRST
    mixed = (mixed ^ mixed >> np.uint64(27)) * _SECOND
    return mixed ^ mixed >> np.uint64(31)


@kernel
def below(chance: State, n: int) -> Any:
    """0..n-1, for n up to 2^31; the bias is under n / 2^32."""
    return np.int64((draw(chance) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@kernel
def happens(chance: State, share: float) -> bool:
    """True in that share of cases."""
    return (draw(chance) >> np.uint64(11)) * 2.0**-53 < share


@kernel
def shuffle(chance: State, items: Ints, count: int) -> None:
    """Put the first `count` items into a random order."""
    for last in range(count - 1, 0, -1):
        at = below(chance, last + 1)
        items[last], items[at] = items[at], items[last]
