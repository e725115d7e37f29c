"""Errors of the arena's own services: a canonical status with a reason, and the field where there is one."""

from typing import Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

DOMAIN = "wakeng"

Context = grpc.aio.ServicerContext[Any, Any]


async def refuse(context: Context, code: int, reason: str, message: str, *, field: str = "") -> NoReturn:
    """End the call with a google.rpc.Status: ErrorInfo (domain `wakeng`, upper-case reason), BadRequest for a field."""
    status = status_pb2.Status(code=code, message=message)
    info = any_pb2.Any()
    info.Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN))
    status.details.append(info)
    if field:
        bad = any_pb2.Any()
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=message)
        bad.Pack(error_details_pb2.BadRequest(field_violations=[violation]))
        status.details.append(bad)
    rich = rpc_status.to_status(status)
    context.set_trailing_metadata(rich.trailing_metadata)
    await context.abort(rich.code, rich.details, rich.trailing_metadata)
    raise AssertionError("abort raises")


async def invalid(context: Context, field: str, message: str) -> NoReturn:
    """INVALID_ARGUMENT that names the field."""
    await refuse(context, code_pb2.INVALID_ARGUMENT, "INVALID_FIELD", message, field=field)


async def not_found(context: Context, message: str) -> NoReturn:
    """NOT_FOUND."""
    await refuse(context, code_pb2.NOT_FOUND, "NOT_FOUND", message)


async def unimplemented(context: Context, field: str, message: str) -> NoReturn:
    """UNIMPLEMENTED: the arena knows the field and does not offer what it asks for."""
    await refuse(context, code_pb2.UNIMPLEMENTED, "NOT_OFFERED", message, field=field)
