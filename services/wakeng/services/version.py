"""Which arena this is."""

from importlib.metadata import version
from typing import Final

ARENA_VERSION: Final = version("wakeng")
