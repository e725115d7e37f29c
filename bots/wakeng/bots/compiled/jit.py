"""How a function is compiled, and the bit counts that processors have and Python's compiler lacks.

Compiling all kernels takes the better part of a minute, so the machine code is kept on disk. Numba looks at a file's
own date alone to tell whether its code is still good, not at the modules it calls; hence the folder bears the package's
version and a hash of all sources that go into kernels. Where that folder cannot be written nothing is kept.
"""

import os
import shutil
from collections.abc import Callable
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

_BOTS: Final = Path(__file__).parent.parent
_KEPT: Final = 4
_SOURCES: Final = ("compiled/*.py", "training/*.py", "network/layout.py")


def _folder() -> Path | None:
    """Where this state of the sources keeps its machine code; None where that cannot be written."""
    digest = blake2b(digest_size=8)
    for pattern in _SOURCES:
        for path in sorted(_BOTS.glob(pattern)):
            digest.update(path.read_bytes())
    try:
        key = f"{version('wakeng')}-{digest.hexdigest()}"
    except PackageNotFoundError:
        key = digest.hexdigest()
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(home) / "wakeng" / "kernels" / key
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(folder.parent)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def _forget_old(kernels: Path) -> None:
    """Keep the code of few states of the sources, the latest; a process that runs by another one has it in memory."""
    by_age = sorted(kernels.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in by_age[_KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


_FOLDER: Final = _folder()


def kernel(function: F) -> F:
    """Compile a function when it is first called; integer results are exact, floating point ones too."""
    return _compiled(function, fastmath=False)


def fast_kernel(function: F) -> F:
    """The same where sums may be taken in any order: for training, whose result nothing else must equal."""
    return _compiled(function, fastmath=True)


def _compiled(function: F, *, fastmath: bool) -> F:
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_FOLDER or "")
    try:
        made: Any = numba.njit(cache=_FOLDER is not None, fastmath=fastmath, error_model="numpy", nogil=True)(function)
        return cast("F", made)
    finally:
        config.CACHE_DIR = before


def _bits(generate: Callable[[Any, Any], Any]) -> Any:
    """A function from int64 to int64 that is one or two instructions of the processor's."""

    def typed(typing: Any, bits: Any) -> Any:
        return types.int64(types.int64), lambda context, builder, signature, arguments: generate(builder, arguments[0])

    return intrinsic(typed)


_UNDEFINED_FOR_ZERO: Final = ir.Constant(ir.IntType(1), 1)

bit_count: Callable[[int], int] = _bits(lambda builder, bits: builder.ctpop(bits))
"""How many bits are set."""
lowest_bit: Callable[[int], int] = _bits(lambda builder, bits: builder.cttz(bits, _UNDEFINED_FOR_ZERO))
"""The place of the lowest set bit of a number that is not 0."""
highest_bit: Callable[[int], int] = _bits(
    lambda builder, bits: builder.sub(ir.Constant(ir.IntType(64), 63), builder.ctlz(bits, _UNDEFINED_FOR_ZERO))
)
"""The place of the highest set bit of a number that is not 0."""
