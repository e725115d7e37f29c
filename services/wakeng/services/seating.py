"""How the bots that seats name are reached: built-in, by address, or registered."""

from dataclasses import dataclass
from typing import Final

from wakeng.bots import REFERENCE_BOTS, create
from wakeng.bots.extras import MissingExtra
from wakeng.engine import Fault, RuleSet
from wakeng.sdk.dialling import Dialling, File
from wakeng.sdk.polling import grpc
from wakeng.services.dialling import BadAddress, DiallingPolicy, NotAllowed
from wakeng.services.errors import UnknownBot
from wakeng.services.gateway import Gateway
from wakeng.services.local import local
from wakeng.services.processes import BotProcess
from wakeng.services.remote import remote
from wakeng.services.seat import NotReady, Opener, Seat, Transport
from wakeng.services.spec import SeatKind, SeatSpec, TimeControl
from wakeng.services.store import RegisteredBot, Store

_PROCESS_START_S: Final = 120.0
"""`search` compiles its kernels when it first starts on a machine."""
"""A built-in bot's process comes up before its ready budget begins; importing Python code is not thinking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotTls:
    """How the arena trusts bots that listen: by TLS, unless `insecure`; on this machine only where `ca` or `cert` is
    named. ValueError where the parts do not fit together.
    """

    ca: File | None = None
    """PEM certificates that the bots' must be signed by; with None the system's."""
    cert: File | None = None
    """A PEM certificate to show to bots that demand one."""
    key: File | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        self._dialling("")

    def credentials(self, address: str) -> grpc.ChannelCredentials | None:
        """For a bot at an address as it was named, None where it is dialled without TLS; OSError if a file is gone."""
        return None if address.startswith("unix:") else self._dialling(address).credentials()

    def _dialling(self, address: str) -> Dialling:
        return Dialling(address=address, ca=self.ca, cert=self.cert, key=self.key, insecure=self.insecure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """What of a process decides how bots are reached.

    Without a `policy` every address is dialled as it stands: the addresses are the operator's own. Without a `gateway`
    there are no registered bots.
    """

    store: Store
    policy: DiallingPolicy | None = None
    gateway: Gateway | None = None
    tls: BotTls = BotTls()

    def key(self, seat: SeatSpec, *, place: str) -> str:
        """What the roster knows the bot by: the same for every seat and match where it is the same bot.

        A built-in bot is made for its `place`, a text that no other seat of the arena bears.
        """
        if seat.kind is SeatKind.BUILTIN:
            return place
        return Gateway.key(seat.bot) if seat.kind is SeatKind.REGISTERED else seat.bot

    def opener(self, seat: SeatSpec, *, seed: bytes, by_admin: bool, in_process: bool) -> Opener:
        """How the bot of a seat is reached; `seed` is for a built-in one.

        One that is broken on purpose, or thinks for milliseconds, has a process of its own in any case.
        """
        if seat.kind is SeatKind.ADDRESS:
            return self._at(seat.bot, by_admin=by_admin)
        if seat.kind is SeatKind.REGISTERED:
            return self._registered(seat)
        if in_process and seat.bot in REFERENCE_BOTS and not REFERENCE_BOTS[seat.bot].thinks:
            return _here(seat.bot, seed)
        return _process(seat.bot, seed)

    def _at(self, address: str, *, by_admin: bool) -> Opener:
        async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
            target, host = address, None
            if self.policy is not None and not (by_admin and address.startswith("unix:")):
                try:
                    checked = await self.policy.target(address, admin=by_admin)
                except (BadAddress, NotAllowed) as problem:
                    raise NotReady(Fault.NOT_READY, str(problem)) from None
                target, host = checked.address, checked.host
            try:
                credentials = self.tls.credentials(address)
            except OSError as problem:
                raise NotReady(Fault.NOT_READY, f"{problem.filename}: {problem.strerror}") from None
            return await remote(target, credentials=credentials, host=host)(seat, rules, time_control)

        return open_

    def _registered(self, named: SeatSpec) -> Opener:
        async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
            try:
                bot = await self.store.bots.get(named.bot)
            except UnknownBot as problem:
                raise NotReady(Fault.NOT_READY, str(problem)) from None
            limit(seat, bot)
            return await self._opener_of(bot)(seat, rules, time_control)

        return open_

    def _opener_of(self, bot: RegisteredBot) -> Opener:
        if bot.address is not None:
            return self._at(bot.address, by_admin=bot.by_admin)
        if self.gateway is None:
            raise NotReady(Fault.NOT_READY, f"{bot.name} dials in, and nobody answers here; name a running arena")
        return self.gateway.opener(bot.name)


def limit(seat: Seat, bot: RegisteredBot) -> None:
    """Hold a seat to the limits that its bot was registered with."""
    seat.limit(max_tables=bot.max_tables, max_decisions=bot.max_decisions)


def _here(name: str, seed: bytes) -> Opener:
    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        try:
            bot = create(name, seed)
        except MissingExtra as problem:
            raise NotReady(Fault.NOT_READY, str(problem)) from None
        return await local(bot)(seat, rules, time_control)

    return open_


def _process(name: str, seed: bytes) -> Opener:
    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        process = await BotProcess.start(name, seed=seed, within=_PROCESS_START_S)
        try:
            transport = await remote(process.address)(seat, rules, time_control)
        except BaseException:  # Cancelled, too: nobody else would end it.
            await process.stop()
            raise
        seat.on_close = process.stop
        return transport

    return open_
