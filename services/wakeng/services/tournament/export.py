"""A tournament's records in files: the lines themselves, and a table of who scored what in which hand."""

import csv
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import orjson

COLUMNS: Final = (
    "block", "rotation", "hand_index", "attempt", "deal", "counted",
    "seat", "bot", "score", "digger", "bid", "stake", "winner", "escaped",
)  # fmt: skip
"""One row for each seat of each hand. `counted` is 1 where the block is complete and in the prefix, so that it enters
the standings; `digger` and `escaped` are 1 for that seat; what a hand does not have is empty."""

Record = dict[str, Any]


async def export(
    lines: AsyncIterator[bytes], *, records: Path | None, table: Path | None, hands_per_block: int, prefix: int
) -> int:
    """Write the lines, which come in the order of hands, to either file or both; how many there were."""
    count = 0
    with ExitStack() as files:
        raw = files.enter_context(records.open("wb")) if records else None
        text = files.enter_context(table.open("w", encoding="utf-8", newline="")) if table else None
        writer = csv.writer(text) if text else None
        if writer:
            writer.writerow(COLUMNS)
        async for block in _blocks(lines, hands_per_block):
            count += len(block)
            if raw:
                raw.write(b"".join(line + b"\n" for line in block))
            if writer:
                writer.writerows(_rows([orjson.loads(line) for line in block], hands_per_block, prefix))
    return count


async def _blocks(lines: AsyncIterator[bytes], size: int) -> AsyncIterator[list[bytes]]:
    block: list[bytes] = []
    number = 0
    async for line in lines:
        of = orjson.loads(line)["hand_index"] // size
        if block and of != number:
            yield block
            block = []
        number = of
        block.append(line)
    if block:
        yield block


def _rows(block: Sequence[Record], size: int, prefix: int) -> Iterator[tuple[Any, ...]]:
    for record in block:
        schedule, result = record["schedule"], record["result"]
        # A block that was struck off misses a hand.
        counted = schedule["block"] < prefix and len(block) == size
        for seat, who in enumerate(record["seats"]):
            yield (
                schedule["block"],
                schedule["rotation"],
                record["hand_index"],
                record["attempt"],
                schedule["deal"],
                int(counted),
                seat,
                who["bot"],
                result["scores"][seat],
                int(result.get("digger") == seat),
                result.get("bid"),
                result.get("stake"),
                result["winner"],
                int(result.get("escaped_seat") == seat),
            )
