"""One look at one page: who looks, in which language, and how an answer is made for him."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from wakeng.services import record_access
from wakeng.services.auth import Caller
from wakeng.services.errors import BadPageToken, StoreError, UnknownMatch
from wakeng.services.store import Match
from wakeng.services.web.hub import Full, Make
from wakeng.services.web.languages import NAMES, Language, asked_for, language
from wakeng.services.web.rendering import environment
from wakeng.services.web.site import Site

THEMES: Final = ("auto", "light", "dark")
BODY_S: Final = 30.0
"""Seconds for all that a request brings."""
YEAR_S: Final = 365 * 24 * 3600
HEADERS: Final = {"cache-control": "private, no-cache", "vary": "accept-language, cookie"}

log = logging.getLogger("wakeng.services")


class TooLarge(Exception):
    """More was sent than is read."""


class Missing(Exception):
    """There is no such thing to look at; the message says what."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request and all that an answer depends on."""

    request: Request
    site: Site
    who: Caller
    say: Language
    theme: str

    def page(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """A page from its template."""
        return HTMLResponse(self.render(template, **context), status, headers=HEADERS)

    def render(self, template: str, **context: Any) -> str:
        """A template's text."""
        return environment(self.say.code).get_template(template).render(visit=self, site=self.site, **context)

    def json(self, value: Any) -> Response:
        """A value for a script."""
        return JSONResponse(value, headers=HEADERS)

    def news(self, key: tuple[str, ...], make: Make) -> Response:
        """What a channel of this language tells, for as long as somebody looks."""
        try:
            self.site.hub.check_room()
        except Full:
            return Response("too many viewers", 503, headers={"retry-after": "10"})
        told = self.site.hub.follow((*key, self.say.code), make)
        return StreamingResponse(_closing(told), media_type="text/event-stream", headers={"cache-control": "no-store"})

    async def body(self, most: int) -> bytes:
        """What was sent, of so many bytes at most; TooLarge, and TimeoutError where it is not there in time."""
        body = bytearray()
        async with asyncio.timeout(BODY_S):
            async for chunk in self.request.stream():
                body += chunk
                if len(body) > most:
                    raise TooLarge
        return bytes(body)

    @property
    def path(self) -> str:
        """This page's, as it was asked for: a name with a question mark in it stays quoted."""
        return path_of(self.request)

    def asked(self, name: str) -> str:
        """A part of the path."""
        return self._askable(str(self.request.path_params[name]))

    def text(self, name: str) -> str:
        """What stands behind the question mark, empty where nothing does."""
        return self._askable(self.request.query_params.get(name, ""))

    def _askable(self, text: str) -> str:
        if "\0" in text:  # PostgreSQL cannot even be asked for it.
            raise Missing(self.say("Nothing here goes by such a name."))
        return text

    def number(self, name: str, default: int = 0, *, most: int = 2**31 - 1) -> int:
        """A number behind the question mark; the default for what is none."""
        text = self.request.query_params.get(name, "")
        return min(int(text), most) if text.isdecimal() and len(text) < 12 else default

    async def match(self) -> Match:
        """The match or tournament of the path."""
        match_id = self.asked("match_id")
        try:
            return await self.site.store.get_match(match_id)
        except UnknownMatch:
            raise Missing(self.say("There is no match or tournament of that name.")) from None

    def here_with(self, **changes: str) -> str:
        """This page's path with something else behind the question mark."""
        query = {**self.request.query_params, **changes}
        return f"{self.path}?{urlencode(query)}"


def path_of(request: Request) -> str:
    """The path of a request, quoted as it was."""
    raw: bytes = request.scope["raw_path"]
    return raw.decode("ascii", "replace")


async def _closing(told: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """However it ends, the viewer is counted out at once."""
    async with aclosing(told):
        async for news in told:
            yield news


View = Callable[[Visit], Awaitable[Response]]


def route(path: str, view: View, *, methods: Sequence[str] = ("GET",), open_to_all: bool = False) -> Route:
    """A route whose view is given a visit. `open_to_all` is for what is shown before a door."""

    async def endpoint(request: Request) -> Response:
        site: Site = request.app.state.site
        if wait := site.gate.wait(request):
            return Response("too many requests", 429, headers={"retry-after": str(int(wait) + 1)})
        if (chosen := _choice(request)) is not None:
            return chosen
        visit = Visit(request, site, await site.gate.who(request), _language(request), _theme(request))
        if site.gate.shut(visit.who) and not open_to_all:
            return RedirectResponse("/login?" + urlencode({"to": path_of(request)}), 303)
        return await _answer(view, visit)

    return Route(path, endpoint, methods=list(methods))


async def _answer(view: View, visit: Visit) -> Response:
    try:
        return await view(visit)
    except TimeoutError:
        return Response("the request took too long", 408, headers={"connection": "close"})
    except Missing as problem:
        return visit.page("problem.html", status=404, title=visit.say("Not found"), text=str(problem))
    except BadPageToken:
        text = visit.say("That page of the list is none that a page led to.")
        return visit.page("problem.html", status=404, title=visit.say("Not found"), text=text)
    except record_access.Private:
        text = visit.say(
            "The records are not for everybody yet: those of a match that goes on are for who takes part in it, and "
            "those of a tournament's block for nobody before the block is complete."
        )
        return visit.page("problem.html", status=403, title=visit.say("Not yet"), text=text)
    except StoreError:
        log.exception("a page could not be shown")
        text = visit.say("The store is away. Try again in a moment.")
        return visit.page("problem.html", status=503, title=visit.say("The store is away"), text=text)


# What a visitor has chosen ------------------------------------------------------------------------------------------

_CHOICES: Final[Mapping[str, Sequence[str]]] = {"lang": tuple(NAMES), "theme": THEMES}


def _choice(request: Request) -> Response | None:
    """A language or a theme that is asked for behind the question mark: it is kept, and the page shown without it."""
    told = {name: value for name, value in request.query_params.items() if name in _CHOICES}
    if not told or request.method != "GET":
        return None
    rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name not in _CHOICES])
    # The path alone: one that began with two slashes would lead elsewhere.
    answer = RedirectResponse("/" + path_of(request).lstrip("/") + (f"?{rest}" if rest else ""), 303)
    for name, value in told.items():
        if value in _CHOICES[name]:
            answer.set_cookie(f"wakeng_{name}", value, max_age=YEAR_S, samesite="lax")
    return answer


def _language(request: Request) -> Language:
    chosen = request.cookies.get("wakeng_lang", "")
    return language(chosen) if chosen in NAMES else asked_for(request.headers.get("accept-language", ""))


def _theme(request: Request) -> str:
    chosen = request.cookies.get("wakeng_theme", "")
    return chosen if chosen in THEMES else "auto"
