"""Pages to look at an arena by: tournaments, matches, bots, replays, live tables (docs/web.md)."""

from wakeng.services.web.app import application
from wakeng.services.web.gate import Gate
from wakeng.services.web.hub import Hub
from wakeng.services.web.serving import WebServer
from wakeng.services.web.site import Site

__all__ = ["Gate", "Hub", "Site", "WebServer", "application"]
