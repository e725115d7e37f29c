"""The queue of blocks: a work-queue stream of JetStream, and the words that coordinators and workers exchange.

    NAME_BLOCKS          stream; NAME.blocks.TOURNAMENT.BLOCK, one message of each subject, gone once acknowledged
      workers            its one consumer, which all workers pull from: first published, first played; redelivered first
    NAME.done.TOURNAMENT notices, not kept: these blocks are recorded now
    NAME.stop.TOURNAMENT requests to all workers, not kept: let go of the tournament

Redelivery has no end here: a worker that is handed a block too often gives it up with a reason (attempts.py), where the
server would only let it lie.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from wakeng.services.tournament.blocks import Block, BlockKind
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.workers.connection import NatsOptions, QueueError, connect

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription
    from nats.js import JetStreamContext

REDELIVER_AFTER_S: Final = 10.0
"""Without a word from a worker its blocks go to another; it gives word three times as often."""
_CONSUMER: Final = "workers"
_REQUEST_S: Final = 5.0
_SUBJECT_TAKEN: Final = 10077
"""The server's code for a subject that has as many messages as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMessage:
    """A block as it travels; the spec is in the store."""

    tournament_id: str
    block: Block
    done: frozenset[int] = frozenset()
    """Places of hands that were recorded when it was published."""
    voids: Mapping[int, int] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Its bytes."""
        block = self.block
        return orjson.dumps(
            {
                "tournament_id": self.tournament_id,
                "block": block.index,
                "kind": block.kind.value,
                "line_up": block.line_up,
                "order": block.order,
                "done": sorted(self.done),
                "voids": [[place, count] for place, count in self.voids.items() if count],
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> "BlockMessage":
        """ValueError, KeyError or TypeError if it is none."""
        told = orjson.loads(data)
        block = Block(told["block"], BlockKind(told["kind"]), tuple(told["line_up"]), tuple(told["order"]))
        voids = {int(place): int(count) for place, count in told["voids"]}
        return cls(tournament_id=told["tournament_id"], block=block, done=frozenset(told["done"]), voids=voids)

    def work(self, spec: TournamentSpec) -> Work:
        """What is to be played of it."""
        return Work(self.block, spec.dealer.hands(self.block), self.done, self.voids)


class Queue:
    """One arena's queue on one connection."""

    def __init__(self, client: "Client", options: NatsOptions) -> None:
        """For `open`."""
        self.client = client
        self.jetstream: JetStreamContext = client.jetstream(timeout=_REQUEST_S)
        self.redeliver_after = REDELIVER_AFTER_S
        """As the server has it."""
        self.options = options
        self._name = options.name
        self._stream = f"{options.name.upper()}_BLOCKS"

    @classmethod
    async def open(
        cls,
        options: NatsOptions,
        *,
        who: str,
        redeliver_after: float | None = None,
        on_event: Callable[[str, str], None] = lambda event, reason: None,
        **more: Any,
    ) -> "Queue":
        """The queue, made if there is none; QueueError if it cannot be."""
        queue = cls(await connect(options, who=who, on_event=on_event, **more), options)
        try:
            await queue.ensure(redeliver_after)
        except BaseException:
            await queue.client.close()
            raise
        return queue

    async def close(self) -> None:
        """What was said has been sent, if there is a server; then no more."""
        from nats.errors import Error

        try:
            if self.client.is_connected:
                await self.client.flush(2)
        except (Error, TimeoutError, OSError):
            pass  # The server is gone; whatever it was not told it will ask others about.
        await self.client.close()

    async def ensure(self, redeliver_after: float | None = None) -> None:
        """Stream and consumer are there; one that is there already keeps its settings but those that are told."""
        from nats.errors import Error
        from nats.js import api

        stream = api.StreamConfig(
            name=self._stream,
            description="Blocks of tournaments that workers are to play",
            subjects=[f"{self._name}.blocks.>"],
            retention=api.RetentionPolicy.WORK_QUEUE,
            storage=api.StorageType.FILE,
            max_msgs_per_subject=1,
            discard=api.DiscardPolicy.NEW,
            discard_new_per_subject=True,
            num_replicas=self.options.replicas,
        )
        try:
            await self._have_stream(stream)
            await self._have_consumer(redeliver_after)
        except (Error, TimeoutError) as problem:
            raise QueueError(
                f"NATS at {self.options.shown} does not keep a queue: {str(problem) or 'no answer'} (is JetStream on?)"
            ) from problem

    async def _have_stream(self, config: Any) -> None:
        from nats.js.errors import NotFoundError

        try:
            await self.jetstream.stream_info(self._stream)
        except NotFoundError:
            await self.jetstream.add_stream(config)

    async def _have_consumer(self, redeliver_after: float | None) -> None:
        from nats.js import api
        from nats.js.errors import NotFoundError

        config = api.ConsumerConfig(
            durable_name=_CONSUMER,
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=redeliver_after or REDELIVER_AFTER_S,
            max_deliver=-1,
            max_ack_pending=-1,
            max_waiting=4096,
        )
        try:
            info = await self.jetstream.consumer_info(self._stream, _CONSUMER)
        except NotFoundError:
            info = await self.jetstream.add_consumer(self._stream, config)
        if redeliver_after is not None and info.config.ack_wait != redeliver_after:
            info = await self.jetstream.add_consumer(self._stream, config)
        self.redeliver_after = float(info.config.ack_wait or REDELIVER_AFTER_S)

    # Coordinators ---------------------------------------------------------------------------------------------------

    async def publish(self, message: BlockMessage) -> bool:
        """Queue a block; False if it is there already, queued or held by a worker."""
        from nats.js.errors import APIError, NoStreamResponseError

        try:
            await self.jetstream.publish(self._subject(message), message.encode())
        except NoStreamResponseError:
            await self.ensure()  # The server has lost its disk, or this was never there; the next try will do.
            raise
        except APIError as problem:
            if problem.err_code == _SUBJECT_TAKEN:
                return False
            raise
        return True

    async def queued(self, tournament_id: str) -> set[int]:
        """The blocks of a tournament that have a message, queued or held by a worker."""
        mine = f"{self._name}.blocks.{token(tournament_id)}."
        found: set[int] = set()
        # The client library asks for the first page of subjects only.
        while True:
            request = orjson.dumps({"subjects_filter": f"{mine}>", "offset": len(found)})
            answer = await self.client.request(f"$JS.API.STREAM.INFO.{self._stream}", request, timeout=_REQUEST_S)
            told = orjson.loads(answer.data)
            if "error" in told:
                await self.ensure()
                return found
            subjects = (told.get("state") or {}).get("subjects") or {}
            found |= {int(subject.removeprefix(mine)) for subject in subjects}
            if not subjects or len(found) >= told.get("total", 0):
                return found

    async def forget(self, tournament_id: str) -> None:
        """Take a tournament's blocks out of the queue, and have workers let go of it."""
        mine = token(tournament_id)
        await self.jetstream.purge_stream(self._stream, subject=f"{self._name}.blocks.{mine}.>")
        await self.client.publish(f"{self._name}.stop.{mine}")

    async def on_done(self, tournament_id: str, told: Callable[[list[int]], None]) -> "Subscription":
        """Be told of blocks that are recorded."""

        async def read(message: "Msg") -> None:
            told([int(block) for block in orjson.loads(message.data)])

        return await self.client.subscribe(f"{self._name}.done.{token(tournament_id)}", cb=read)

    async def depth(self) -> tuple[int, int]:
        """Messages that wait for a worker, and those that workers hold."""
        info = await self.jetstream.consumer_info(self._stream, _CONSUMER)
        return info.num_pending or 0, info.num_ack_pending or 0

    # Workers --------------------------------------------------------------------------------------------------------

    async def tell_done(self, tournament_id: str, blocks: Iterable[int]) -> None:
        """These are recorded."""
        await self.client.publish(f"{self._name}.done.{token(tournament_id)}", orjson.dumps(list(blocks)))

    async def on_stop(self, told: Callable[[str], None]) -> "Subscription":
        """Be told of tournaments to let go of."""

        async def read(message: "Msg") -> None:
            told(tournament_of(message.subject.rpartition(".")[2]))

        return await self.client.subscribe(f"{self._name}.stop.*", cb=read)

    def pull(self, accept: Callable[["Msg"], Awaitable[None]], *, again: Callable[[], None] = lambda: None) -> "Pull":
        """Ask for blocks; `again` is called when it is time to."""
        return Pull(self.client, f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{_CONSUMER}", accept, again)

    def _subject(self, message: BlockMessage) -> str:
        return f"{self._name}.blocks.{token(message.tournament_id)}.{message.block.index}"


def token(tournament_id: str) -> str:
    """An id as one word of a subject."""
    return tournament_id.replace(".", "%2E")


def tournament_of(word: str) -> str:
    """The id of a word."""
    return word.replace("%2E", ".")


class Pull:
    """Asks the server for as many blocks as there is room for, and for more as soon as there is more.

    A request stands until it is filled or has expired, which the server says, or a lost connection hides. The client
    library's own `fetch` waits for a batch to be full, and so would leave tables free.
    """

    EXPIRES_S: Final = 5.0

    def __init__(
        self,
        client: "Client",
        subject: str,
        accept: Callable[["Msg"], Awaitable[None]],
        again: Callable[[], None],
    ) -> None:
        """For `Queue.pull`."""
        self._again = again
        self._client = client
        self._subject = subject
        self._accept = accept
        self._asked: set[_Request] = set()

    async def ask(self, room: int) -> None:
        """There is room for so many, those that were asked for already among them."""
        now = asyncio.get_running_loop().time()
        for request in [request for request in self._asked if request.until < now]:
            await self._end(request)
        more = room - sum(request.left for request in self._asked)
        if more > 0 and self._client.is_connected:
            await self._ask(_Request(more, now + self.EXPIRES_S + 1))

    async def close(self) -> None:
        """No more comes."""
        for request in list(self._asked):
            await self._end(request)

    async def _ask(self, request: "_Request") -> None:
        async def read(message: "Msg") -> None:
            await self._read(request, message)

        # Each has an address of its own: nothing else in what comes says which request it answers.
        inbox = self._client.new_inbox()
        self._asked.add(request)
        request.subscription = await self._client.subscribe(inbox, cb=read)
        told = {"batch": request.left, "expires": int(self.EXPIRES_S * 1e9)}
        await self._client.publish(self._subject, orjson.dumps(told), reply=inbox)

    async def _read(self, request: "_Request", message: "Msg") -> None:
        status = (message.headers or {}).get("Status")
        if status is None:
            request.left -= 1
            await self._accept(message)
        if request.left <= 0 or status not in (None, "100"):
            await self._end(request)
            self._again()

    async def _end(self, request: "_Request") -> None:
        self._asked.discard(request)
        subscription, request.subscription = request.subscription, None
        if subscription is not None and not self._client.is_closed:
            await subscription.unsubscribe()


@dataclass(eq=False, slots=True)
class _Request:
    left: int
    """Messages still to come."""
    until: float
    """When that is given up."""
    subscription: "Subscription | None" = None
