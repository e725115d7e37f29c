"""Coming in with a token, and going out again."""

from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from wakeng.services.web.visit import TooLarge, Visit

_MOST_BYTES = 4096


async def login(visit: Visit) -> Response:
    """Where a token is asked for."""
    return visit.page("login.html", to=_path(visit.request.query_params.get("to", "/")), failed=False)


async def enter(visit: Visit) -> Response:
    """A token was given: a session begins, if it is one of ours."""
    try:
        body = await visit.body(_MOST_BYTES)
    except TooLarge:
        return Response("too much", 413)
    told = parse_qs(body.decode("ascii", "replace"))
    to = _path(told.get("to", ["/"])[0])
    answer: Response = RedirectResponse(to, 303)
    if await visit.site.gate.enter(visit.request, told.get("token", [""])[0].strip(), answer):
        return answer
    return visit.page("login.html", status=403, to=to, failed=True)


async def leave(visit: Visit) -> Response:
    """The session ends."""
    answer = RedirectResponse("/", 303)
    visit.site.gate.leave(visit.request, answer)
    return answer


def _path(text: str) -> str:
    """A path of this server; home for whatever might lead elsewhere."""
    there = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and "\\" not in text
    return text if there else "/"
