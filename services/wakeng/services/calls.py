"""What becomes of calls to the arena's own services, for the metrics: how many, how they ended, how long they took.

The outermost interceptor, so that what the guard refuses is counted too. Methods that nobody serves share one label:
a stranger must not be able to add to the labels.
"""

import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeAlias, cast

from wakeng.sdk.polling import grpc
from wakeng.services.failures import SHAPES
from wakeng.services.metrics import Metrics
from wakeng.services.rpc import Context

_Details: TypeAlias = grpc.HandlerCallDetails
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
_Continuation: TypeAlias = Callable[[_Details], Awaitable[_Handler]]


class CountedCalls(grpc.aio.ServerInterceptor):
    """Counts every call that a service answers or refuses."""

    def __init__(self, metrics: Metrics, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._clock = clock

    async def intercept_service(self, continuation: _Continuation, handler_call_details: _Details) -> _Handler:
        """The method's handler, counted."""
        handler: Any = await continuation(handler_call_details)
        if handler is None:
            self._metrics.unknown_call()
            return None
        shape = next(shape for shape in SHAPES if getattr(handler, shape) is not None)
        counted = self._counted(handler_call_details.method, getattr(handler, shape))
        return cast("_Handler", handler._replace(**{shape: counted}))

    def _counted(self, method: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Context) -> Any:
            began = self._clock()
            failed = True
            try:
                answer = await behaviour(request, context)
                failed = False
                return answer
            finally:
                self._ended(method, context, began, failed=failed)

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            began = self._clock()
            failed = True
            try:
                async with aclosing(behaviour(request, context)) as answers:
                    async for answer in answers:
                        yield answer
                failed = False
            finally:
                self._ended(method, context, began, failed=failed)

        # grpc.aio asks the function itself how it wants to be called.
        return stream if inspect.isasyncgenfunction(behaviour) else call

    def _ended(self, method: str, context: Context, began: float, *, failed: bool) -> None:
        # A call that was given up by its caller has no code of ours yet.
        code = _NAMES.get(context.code(), "CANCELLED" if failed else "OK")
        self._metrics.call(method, code, self._clock() - began)


_NAMES = {code: code.name for code in grpc.StatusCode} | {code.value[0]: code.name for code in grpc.StatusCode}
"""What `ServicerContext.code` gives is a number or a status, as whoever set it had it."""
_NAMES.pop(0)
_NAMES.pop(grpc.StatusCode.OK)
