"""Bots that need more than the base install say what is missing, and never play weaker for the lack of it."""

from collections.abc import Iterable
from importlib.util import find_spec


class MissingExtra(ValueError):
    """A bot cannot start, since an extra of the package is not installed; the message names it."""

    def __init__(self, bot: str, *, extra: str, module: str) -> None:
        super().__init__(f"{bot} needs {module}, which is not installed; try: pip install 'wakeng[{extra}]'")
        self.extra = extra


def demand(bot: str, *, extra: str, modules: Iterable[str]) -> None:
    """MissingExtra unless all modules are installed."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtra(bot, extra=extra, module=module)
