"""Leases held across workers: the local side of shares.py, over a bucket of keys in JetStream.

Why there and not as advisory locks of PostgreSQL: the queue is there anyhow, so this works with SQLite too; a lock of
PostgreSQL is a session's, and would tie each hand to a pooled connection, or cost a round trip for each; and a share of
many hands is one key, changed when the division changes and not when a hand begins.

    get key -> (shares, revision) -> renewed -> update if the revision is still the same -> else from the beginning

**Race-free.** A worker lowers its own limit before it writes a smaller share and raises it after a larger one is
written, so at every moment it uses no more than stands in the key. **Expiry.** What a worker holds counts while it is
present (presence.py); the next to change the key leaves out those that are gone. **Fencing.** A worker that cannot say
that it lives begins no hand with a shared bot from a little before the others may think it gone, until it can again.
Hands that are in play then may for their remaining time run beside those of the worker that took over.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from wakeng.services.seat import Seat
from wakeng.services.workers.presence import GONE_AFTER_S, bucket
from wakeng.services.workers.queue import Queue
from wakeng.services.workers.shares import Share, read, renewed, scarce, write

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription
    from nats.js.kv import KeyValue

FENCE_AFTER_S: Final = 0.8 * GONE_AFTER_S
_MOST_LOOKS: Final = 10
"""At a key for a change that was heard of and does not show; the next beat looks again."""


Look = Callable[[], Awaitable[set[str]]]


class SharedLeases:
    """One worker's part in the leases of the bots that it shares with others."""

    def __init__(
        self,
        queue: Queue,
        keys: "KeyValue",
        name: str,
        worker: str,
        *,
        look: Look,
        clock: Callable[[], float],
    ) -> None:
        """For `open`."""
        self.worker = worker
        self.live: set[str] = {worker}
        self._queue = queue
        self._keys = keys
        self._name = name
        self._shared: dict[str, _SharedSeat] = {}
        self._subscription: Subscription | None = None
        self._look = look
        self._clock = clock
        self._confirmed = clock()

    @classmethod
    async def open(
        cls, queue: Queue, worker: str, *, look: Look, clock: Callable[[], float] = time.monotonic
    ) -> "SharedLeases":
        """With the bucket made if there is none; `look` says which workers there are at the moment."""
        name = f"{queue.options.name}_leases"
        leases = cls(queue, await bucket(queue, name), name, worker, look=look, clock=clock)
        # Whoever changes a key publishes on its subject, so that is how to hear of it; to miss one costs a beat.
        leases._subscription = await queue.client.subscribe(f"$KV.{name}.*", cb=leases._changed)
        return leases

    def share(self, key: str, seat: Seat, need: Callable[[], int]) -> None:
        """Hold a seat to this worker's share from now on; `need` says how many hands could be played with it."""
        if key not in self._shared:
            self._shared[key] = _SharedSeat(self, self._keys, sha256(key.encode()).hexdigest(), seat)
        shared = self._shared[key]
        shared.needs.append(need)
        shared.touch()

    async def unshare(self, key: str, need: Callable[[], int]) -> None:
        """The seat is not needed for that any more."""
        shared = self._shared[key]
        shared.needs.remove(need)
        if shared.needs:
            shared.touch()
        else:
            del self._shared[key]
            await shared.close()

    def touch(self) -> None:
        """Needs may have changed."""
        for shared in self._shared.values():
            shared.touch_if_needs_changed()

    def beat(self, live: set[str]) -> None:
        """The server knows that this worker lives, and which others do."""
        self._confirmed = self._clock()
        self.live = live | {self.worker}
        for shared in self._shared.values():
            shared.touch()

    def fence(self) -> None:
        """To be called now and then: begin nothing while others may think this worker gone."""
        if self.fenced:
            for shared in self._shared.values():
                shared.suspend()

    async def gone(self, workers: Iterable[str]) -> None:
        """See which of these are gone: who is not known may have come since this worker last looked.

        A worker is present before it holds anything, so whoever holds something now and is not there now is gone.
        """
        if not self.live.issuperset(workers):
            self.live = await self._look() | {self.worker}

    @property
    def fenced(self) -> bool:
        """Whether others may think this worker gone."""
        return self._clock() - self._confirmed > FENCE_AFTER_S

    async def close(self) -> None:
        """Give everything back."""
        for shared in self._shared.values():
            shared.needs.clear()
        await asyncio.gather(*(shared.close() for shared in self._shared.values()))
        self._shared.clear()
        if self._subscription is not None and not self._queue.client.is_closed:
            await self._subscription.unsubscribe()

    async def _changed(self, message: "Msg") -> None:
        key = message.subject.rpartition(".")[2]
        for shared in self._shared.values():
            if shared.key == key:
                shared.heard = read(message.data)
                shared.touch()


class _SharedSeat:
    """One bot's seat, held to this worker's share."""

    def __init__(self, leases: SharedLeases, keys: "KeyValue", key: str, seat: Seat) -> None:
        self.key = key
        self.needs: list[Callable[[], int]] = []
        self._leases = leases
        self._keys = keys
        self._seat = seat
        self.heard: dict[str, Share] | None = None
        """What the last change is said to be; one hears of it when it is sent, which is before the server has it."""
        self._shares: dict[str, Share] = {}
        """As they were last seen."""
        self._told_need = 0
        self._to_the_end = False
        self._dirty = False
        self._task: asyncio.Task[None] | None = None
        seat.leases.share = 0
        seat.on_free.add(self._hand_ended)

    @property
    def need(self) -> int:
        """Rounded up to a power of two, so that it does not change with every block."""
        need = sum(need() for need in self.needs)
        return 1 << (need - 1).bit_length() if need else 0

    def touch(self) -> None:
        """Look at the key soon."""
        self._dirty = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._keep())

    def touch_if_needs_changed(self) -> None:
        """Needs that grow are told at once, others with the next beat."""
        if self.need > self._told_need:
            self.touch()

    def suspend(self) -> None:
        """Begin nothing."""
        self._seat.leases.share = 0

    async def close(self) -> None:
        """Give the share back as far as it is not in use; what is in use is free once this worker is gone."""
        self._seat.on_free.discard(self._hand_ended)
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        await asyncio.gather(self._renew(), return_exceptions=True)
        self._seat.leases.share = None

    def _hand_ended(self) -> None:
        """Where there is less than one for each, one's turn is over with the hand."""
        leases = self._seat.leases
        if leases.share and leases.taken < leases.share and scarce(self._shares, leases.stated):
            leases.share = leases.taken
            self._to_the_end = True
            self.touch()

    async def _keep(self) -> None:
        from nats.errors import Error

        while self._dirty:
            self._dirty = False
            try:
                await self._renew()
            except (Error, TimeoutError):
                return  # The next beat tries again, and the fence sees to what must not be begun until then.

    async def _renew(self) -> None:
        from nats.js.errors import KeyWrongLastSequenceError

        looks = 0
        while True:
            shares, revision = await self._get()
            await self._leases.gone(shares)
            new = self._renewed(shares)
            if new != shares:
                try:
                    await self._put(new, revision)
                    break
                except KeyWrongLastSequenceError:
                    pass
            elif self.heard in (None, shares) or looks >= _MOST_LOOKS:
                break
            looks += 1
            await asyncio.sleep(random.uniform(0, 0.001 * 2 ** min(looks, 7)))
        self._take(new)

    def _renewed(self, shares: dict[str, Share]) -> dict[str, Share]:
        """What shall stand there; from here on no more is used than that."""
        leases = self._seat.leases
        need = self._told_need = self.need
        new = renewed(
            shares,
            self._leases.worker,
            need=need,
            used=leases.taken,
            limit=leases.stated,
            live=self._leases.live,
            to_the_end=self._to_the_end,
        )
        mine = new.get(self._leases.worker)
        leases.share = min(leases.share or 0, mine.held if mine is not None else 0)
        return new

    def _take(self, shares: dict[str, Share]) -> None:
        """It stands there now."""
        self._shares = shares
        self._to_the_end = False
        mine = shares.get(self._leases.worker)
        held, leases = mine.held if mine is not None else 0, self._seat.leases
        if self._leases.fenced:
            return
        grown = held > (leases.share or 0)
        leases.share = held
        # Questions at once are shared in proportion; a bot that takes one at a time may so get one from each.
        self._seat.window.cap(max(1, self._seat.max_decisions * held // leases.stated))
        if grown:
            for wake in list(self._seat.on_free - {self._hand_ended}):
                wake()

    async def _get(self) -> tuple[dict[str, Share], int]:
        from nats.js.errors import KeyNotFoundError

        try:
            entry = await self._keys.get(self.key)
        except KeyNotFoundError:
            return {}, 0
        return read(entry.value), entry.revision or 0

    async def _put(self, shares: dict[str, Share], revision: int) -> None:
        await self._keys.update(self.key, write(shares), last=revision)
