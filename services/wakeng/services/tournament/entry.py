"""A tournament's text read for play: every bot that it names is looked up before anything starts."""

import asyncio
import re
from collections.abc import Mapping
from typing import Final

from wakeng.bots import BUILTIN_BOTS, FAULTY_BOTS, REFERENCE_BOTS
from wakeng.sdk.options import nearest
from wakeng.services.dialling import BadAddress, DiallingPolicy, NotAllowed
from wakeng.services.errors import UnknownBot
from wakeng.services.spec import SeatKind, SeatSpec, SpecError
from wakeng.services.store import Store
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.spec_file import BadSpec, parse_spec

MOST_PARTS: Final = 64
_PART: Final = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++)"""
_LONG_KEY: Final = re.compile(rf"(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")
"""A dotted key of so many parts: reading one takes time and memory by the square of them."""
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_id(tournament_id: str) -> str:
    """The id itself; SpecError if it cannot be one."""
    if not _ID.fullmatch(tournament_id):
        raise SpecError("tournament_id", "must be 1 to 64 of the characters A-Z a-z 0-9 . _ -, the first no sign")
    return tournament_id


async def read_tournament(
    text: str,
    *,
    drawn_seed: bytes,
    store: Store,
    policy: DiallingPolicy | None = None,
    by_admin: bool = True,
    dial_in: bool,
) -> TournamentSpec:
    """The tournament of a TOML text, on the drawn seed where it gives none.

    BadSpec names field and line of what is wrong, a bot that there is not included; with `dial_in` off so is one that
    has to call the arena. NotAllowed if the policy forbids an address to who asks.
    """
    if (found := _LONG_KEY.search(text)) is not None:
        raise BadSpec("file", f"has a key of more than {MOST_PARTS} parts", text.count("\n", 0, found.start()) + 1)
    # Text from anywhere may take its time to read, and is read again where a bot must be complained of by its line.
    try:
        spec = await asyncio.to_thread(parse_spec, text, drawn_seed=drawn_seed, check_bot=unknown_builtin)
    except SpecError:
        raise
    except ValueError as problem:  # A number of thousands of digits, which Python does not read.
        raise BadSpec("file", f"is no TOML: {problem}", None) from None
    wrong: dict[SeatSpec, str] = {}
    for place, bot in enumerate(spec.bots):
        try:
            await _look_up(bot.seat, store, policy, by_admin=by_admin, dial_in=dial_in)
        except NotAllowed as problem:
            raise NotAllowed(f"bots[{place}]: {problem}") from None
        except (UnknownBot, BadAddress) as problem:
            wrong[bot.seat] = str(problem).removeprefix("name: ")
    if wrong:
        await asyncio.to_thread(_complain, text, drawn_seed, wrong)
    return spec


def unknown_builtin(seat: SeatSpec) -> str | None:
    """What is wrong with a seat that names a built-in bot which there is not."""
    if seat.kind is not SeatKind.BUILTIN or seat.bot in BUILTIN_BOTS:
        return None
    known = FAULTY_BOTS if seat.bot.startswith("faulty") else REFERENCE_BOTS
    return (
        f"there is no built-in bot {seat.bot[:80]!r}; {nearest(seat.bot, known)}"
        " (others are told by address = 'HOST:PORT' or registered = 'NAME')"
    )


async def _look_up(
    seat: SeatSpec, store: Store, policy: DiallingPolicy | None, *, by_admin: bool, dial_in: bool
) -> None:
    if seat.kind is SeatKind.REGISTERED:
        bot = await store.bots.get(seat.bot)
        if bot.address is None and not dial_in:
            raise UnknownBot(f"{bot.name} dials in, and nobody answers here; play it in a running arena (--arena)")
    elif seat.kind is SeatKind.ADDRESS and policy is not None:
        await policy.target(seat.bot, admin=by_admin)


def _complain(text: str, drawn_seed: bytes, wrong: Mapping[SeatSpec, str]) -> None:
    parse_spec(text, drawn_seed=drawn_seed, check_bot=wrong.get)
    raise AssertionError("a bot that is wrong is complained of")
