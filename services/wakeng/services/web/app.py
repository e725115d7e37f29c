"""The site as an ASGI application: its paths, and what stands before all of them."""

from collections.abc import Iterable
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from wakeng.services.web import bots, doors, guides, home, matches, replays, tournaments
from wakeng.services.web.languages import asked_for
from wakeng.services.web.rendering import HERE, environment
from wakeng.services.web.security import Secured, Tagged
from wakeng.services.web.site import Site
from wakeng.services.web.visit import route

_KEPT: Final = "public, max-age=31536000, immutable"


class _Static(StaticFiles):
    """Static files are asked for by their content's hash, so whoever has one has it for good."""

    def file_response(self, *args: object, **more: object) -> Response:
        """As it is, to be kept."""
        answer = super().file_response(*args, **more)  # type: ignore[arg-type]
        answer.headers["cache-control"] = _KEPT
        return answer


async def _not_found(request: Request, problem: Exception) -> Response:
    say = asked_for(request.headers.get("accept-language", ""))
    return Response(
        environment(say.code).get_template("bare.html").render(title=say("Not found")), 404, media_type="text/html"
    )


ROUTES: Final = (
    route("/", home.home),
    route("/tournaments", home.all_tournaments),
    route("/tournaments/{match_id}", tournaments.tournament),
    route("/tournaments/{match_id}/live", tournaments.live),
    route("/matches", home.all_matches),
    route("/matches/{match_id}", matches.match),
    route("/matches/{match_id}/live", matches.live),
    route("/matches/{match_id}/table", matches.table),
    route("/hands/{match_id}/{index}", replays.hand),
    route("/hands/{match_id}/{index}/record.jsonl", replays.line),
    route("/hands/{match_id}/{index}/faults/{number:int}", replays.fault),
    route("/replay", replays.dropped_page),
    route("/replay", replays.dropped, methods=["POST"]),
    route("/bots", bots.bots),
    route("/bots/{name:path}", bots.bot),
    route("/rules", guides.rules),
    route("/rules/{preset}", guides.preset),
    route("/write-a-bot", guides.write_a_bot),
    route("/login", doors.login, open_to_all=True),
    route("/login", doors.enter, methods=["POST"], open_to_all=True),
    route("/logout", doors.leave, methods=["POST"], open_to_all=True),
)


def application(site: Site, *, hosts: Iterable[str] = ()) -> ASGIApp:
    """The site. `hosts` are names it answers to where others than these are refused."""
    app = Starlette(
        routes=[*ROUTES, Mount("/static", _Static(directory=HERE / "static"))],
        middleware=[
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=5),
            Middleware(Tagged),
        ],
        exception_handlers={404: _not_found},
    )
    app.state.site = site
    return Secured(app, hosts=hosts)  # Outermost, so that an answer of Starlette's own bears the policy too.
