"""A replay as one file that needs nothing else: no server, no network, no other file.

Its one script and its one style stand in it, and its own policy lets these two run, by their hashes, and nothing else.
What the record holds is data in it, never markup.
"""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from wakeng.engine import encode
from wakeng.engine.record import rules_of
from wakeng.services.web.frames import replay_of
from wakeng.services.web.languages import language
from wakeng.services.web.rendering import STATIC, environment


def page(record: Mapping[str, Any], code: str = "en") -> str:
    """The file of a verified record, in a language."""
    script, style = ((STATIC / name).read_text("utf-8") for name in ("replay.js", "site.css"))
    policy = f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; base-uri 'none'"
    return (
        environment(code)
        .get_template("standalone.html")
        .render(
            policy=policy,
            script=Markup(script),
            style=Markup(style),
            record=record,
            rules=rules_of(record),
            data=replay_of(record, language(code)),
            line=encode(record).decode(),
        )
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
