"""Whatever goes wrong in a call ends as a canonical status with a reason (docs/protocol.md 5).

grpc.aio answers a request that it cannot parse, and an exception of the method's, with UNKNOWN and what Python says of
it. So requests come in as raw bytes and are parsed here, within what turns exceptions into refusals.
"""

import inspect
import logging
import secrets
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, NoReturn, TypeAlias, cast

from google.protobuf.message import DecodeError
from google.rpc import code_pb2

from wakeng.sdk.polling import grpc
from wakeng.services.errors import StoreError
from wakeng.services.plaintext import plain_text
from wakeng.services.rpc import Context, invalid, refuse

_Details: TypeAlias = grpc.HandlerCallDetails
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
_Continuation: TypeAlias = Callable[[_Details], Awaitable[_Handler]]
_Parse: TypeAlias = Callable[[bytes], Any]

SHAPES: Final = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
"""Where a handler has its method: in one of these attributes."""

log = logging.getLogger("wakeng.services")


class Failures(grpc.aio.ServerInterceptor):
    """The innermost interceptor: what it wraps is the method itself."""

    async def intercept_service(self, continuation: _Continuation, handler_call_details: _Details) -> _Handler:
        """The method's handler, which parses for itself and fails in order."""
        handler: Any = await continuation(handler_call_details)
        if handler is None:
            return None
        shape = next(shape for shape in SHAPES if getattr(handler, shape) is not None)
        parse = None if handler.request_streaming else handler.request_deserializer
        changes: dict[str, Any] = {"request_deserializer": None} if parse else {}
        changes[shape] = _in_order(handler_call_details.method, getattr(handler, shape), parse or _as_it_is)
        return cast("_Handler", handler._replace(**changes))


def _as_it_is(request: Any) -> Any:
    return request


def _in_order(method: str, behaviour: Callable[..., Any], parse: _Parse) -> Callable[..., Any]:
    async def call(request: Any, context: Context) -> Any:
        async with _refusing(method, context):
            return await behaviour(parse(request), context)

    async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
        async with _refusing(method, context), aclosing(behaviour(parse(request), context)) as answers:
            async for answer in answers:
                yield answer

    # grpc.aio asks the function itself how it wants to be called.
    return stream if inspect.isasyncgenfunction(behaviour) else call


@asynccontextmanager
async def _refusing(method: str, context: Context) -> AsyncIterator[None]:
    try:
        yield
    except grpc.aio.BaseError:
        raise  # The call was refused on purpose, or is over.
    except DecodeError:
        await invalid(context, "request", "request: it cannot be read as the message that it should be")
    except StoreError as problem:
        await _own_up(context, method, problem, code_pb2.UNAVAILABLE, "STORE_FAILED", "the arena's store has failed")
    except Exception as problem:
        await _own_up(context, method, problem, code_pb2.INTERNAL, "ARENA_ERROR", "the arena has failed at this call")


async def _own_up(context: Context, method: str, problem: Exception, code: int, reason: str, message: str) -> NoReturn:
    """Log why, and refuse the call, both under an id by which the operator finds what the caller complains of."""
    error_id = secrets.token_hex(6)
    # In one line, as a message may repeat what a stranger sent.
    why = plain_text("".join(traceback.format_exception(problem)))
    ids = {"error_id": error_id, "method": method, "reason": reason, "peer": context.peer()}
    log.error("a call has failed: %s", why, extra=ids)
    await refuse(context, code, reason, f"{message}; the operator finds it by error id {error_id}")
