"""Writing to a stream without forgetting how the other side ends it.

Where a call ends under a write, grpc.aio's own `write` sets the call's status to INTERNAL ("Internal error from Core"),
and the status that the other side gave is lost. A bot that is busy when another takes its place would mostly not learn
that it was replaced, and come back. So a message is handed to the call's core, and a write that fails is only not done:
whoever reads then learns the true status.
"""

import asyncio
from typing import Any

from wakeng.sdk.polling import grpc


async def hand_over(call: Any, message: bytes, *, connected: bool = False) -> None:
    """Write one message to an open call of a client; if the call is over, that is for the reader to learn.

    A call that is known to be `connected` need not be waited for.
    """
    core = getattr(call, "_cython_call", None)
    try:
        if core is None:  # A grpc.aio that is made otherwise, and perhaps better.
            await call.write(message)
        elif not call.done():
            if not connected:
                await call.wait_for_connection()
            await core.send_serialized_message(message)
    except (grpc.aio.AioRpcError, grpc.aio.BaseError, asyncio.InvalidStateError):
        return
