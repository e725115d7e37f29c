"""Which workers there are: each keeps a key of its own alive, which the server forgets once it falls silent.

No clock but the server's decides who is gone, so clocks of machines may differ as they like.
"""

import asyncio
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from wakeng.services.workers.queue import Queue

if TYPE_CHECKING:
    from nats.js.kv import KeyValue

GONE_AFTER_S: Final = 10.0
"""A worker that was silent for so long is gone, and its leases with it; it gives word three times as often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNote:
    """What a worker says of itself."""

    worker: str
    host: str
    pid: int
    version: str
    tables: int
    """Hands it plays at once, at most."""
    blocks: dict[str, int] = field(default_factory=dict)
    """Blocks it holds, by tournament."""
    draining: bool = False


class Presence:
    """The workers of an arena, as the server knows them."""

    def __init__(self, queue: Queue, bucket: "KeyValue", bucket_name: str) -> None:
        """For `open`."""
        self._queue = queue
        self._bucket = bucket
        self._bucket_name = bucket_name

    @classmethod
    async def open(cls, queue: Queue) -> "Presence":
        """With the bucket made if there is none."""
        name = f"{queue.options.name}_workers"
        return cls(queue, await bucket(queue, name, ttl=GONE_AFTER_S), name)

    async def tell(self, note: WorkerNote) -> None:
        """This worker lives."""
        await self._bucket.put(note.worker, orjson.dumps(asdict(note)))

    async def leave(self, worker: str) -> None:
        """It goes, and nobody need wait for that to show."""
        # Not `delete`: that leaves a mark, which `live` would take for the worker.
        await self._queue.jetstream.purge_stream(f"KV_{self._bucket_name}", subject=f"$KV.{self._bucket_name}.{worker}")

    async def live(self) -> set[str]:
        """The workers that are not gone."""
        prefix = f"$KV.{self._bucket_name}."
        info = await self._queue.jetstream.stream_info(f"KV_{self._bucket_name}", subjects_filter=f"{prefix}>")
        return {subject.removeprefix(prefix) for subject in info.state.subjects or {}}

    async def notes(self) -> list[WorkerNote]:
        """What each says of itself."""
        from nats.js.errors import KeyNotFoundError

        found = []
        for worker in sorted(await self.live()):
            try:
                entry = await self._bucket.get(worker)
            except KeyNotFoundError:
                continue
            found.append(WorkerNote(**orjson.loads(entry.value or b"{}")))
        return found


async def bucket(queue: Queue, name: str, *, ttl: float | None = None) -> "KeyValue":
    """A bucket of keys, made if there is none."""
    from nats.js.api import KeyValueConfig
    from nats.js.errors import BadRequestError, BucketNotFoundError

    try:
        return await queue.jetstream.key_value(name)
    except BucketNotFoundError:
        config: Any = KeyValueConfig(bucket=name, history=1, ttl=ttl, replicas=queue.options.replicas)
        try:
            return await queue.jetstream.create_key_value(config)
        except BadRequestError:  # Another was a moment earlier.
            await asyncio.sleep(0)
            return await queue.jetstream.key_value(name)
