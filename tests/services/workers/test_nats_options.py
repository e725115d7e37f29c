"""How NATS is reached: what fits together, and that no secret is shown."""

from typing import Any

import pytest

from wakeng.services.workers.connection import NatsOptions, QueueError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "localhost:4222"}, "looks like nats://HOST:4222"),
        ({"url": "nats://one,http://two"}, "not http://two"),
        ({"url": "nats://h", "name": "a.b"}, "letters, digits and _"),
        ({"url": "nats://h", "cert": "c"}, "its key go together"),
        ({"url": "nats://h", "user": "u"}, "its password go together"),
        ({"url": "nats://h", "user": "u", "password": "p", "token": "t"}, "not user and token"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(QueueError, match=said.replace("(", r"\(")):
        NatsOptions(**given)


def test_secrets_are_not_shown() -> None:
    options = NatsOptions(url="nats://me:secret@one:4222, tls://two", token=None)
    assert options.shown == "nats://one:4222,tls://two"
    told = NatsOptions(url="nats://me:secret@one", name="club", token="hush")
    assert "secret" not in repr(told)
    assert "hush" not in repr(told)


def test_tls_is_asked_for_by_the_url_or_by_what_is_to_be_trusted(tmp_path: Any) -> None:
    assert NatsOptions(url="nats://h").tls() is None
    assert NatsOptions(url="tls://h").tls() is not None
    with pytest.raises(QueueError, match="no certificates for NATS"):
        NatsOptions(url="nats://h", ca=tmp_path / "nobody.pem").tls()
