"""Errors of the arena's own services: a canonical status with a reason, and the field where there is one."""

import math
from typing import Any, NoReturn

from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from wakeng.sdk.polling import grpc  # Before anybody else loads it.

# isort: split
from grpc_status import rpc_status

DOMAIN = "wakeng"

Context = grpc.aio.ServicerContext[Any, Any]


async def refuse(
    context: Context, code: int, reason: str, message: str, *, field: str = "", retry_after_s: float | None = None
) -> NoReturn:
    """End the call with a google.rpc.Status: ErrorInfo (domain `wakeng`, upper-case reason), BadRequest for a field,
    RetryInfo where it is worth while to ask again.
    """
    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN)]
    if field:
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=message)
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    if retry_after_s is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(max(1, math.ceil(retry_after_s * 1000)))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    rich = rpc_status.to_status(status_pb2.Status(code=code, message=message, details=map(_packed, details)))
    context.set_trailing_metadata(rich.trailing_metadata)
    await context.abort(rich.code, rich.details, rich.trailing_metadata)
    raise AssertionError("abort raises")


def _packed(detail: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


async def invalid(context: Context, field: str, message: str) -> NoReturn:
    """INVALID_ARGUMENT that names the field."""
    await refuse(context, code_pb2.INVALID_ARGUMENT, "INVALID_FIELD", message, field=field)


async def not_found(context: Context, message: str) -> NoReturn:
    """NOT_FOUND."""
    await refuse(context, code_pb2.NOT_FOUND, "NOT_FOUND", message)


async def unimplemented(context: Context, field: str, message: str) -> NoReturn:
    """UNIMPLEMENTED: the arena knows the field and does not offer what it asks for."""
    await refuse(context, code_pb2.UNIMPLEMENTED, "NOT_OFFERED", message, field=field)
