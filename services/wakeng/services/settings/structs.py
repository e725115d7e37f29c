"""Everything that an arena can be told, as frozen structs: the one table from which the rest is derived.

A field is a setting. Its section and name make the key in a file (`serve.listen`) and the environment's variable
(WAKENG_SERVE_LISTEN); `About` adds the flag, the help and how a text is read. Flags of commands, `wakeng config` and
docs/configuration.md all follow from here, so a new setting is one field and nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import click
import msgspec

from wakeng.sdk.options import ADDRESS
from wakeng.services.settings.kinds import NETWORK, URL

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT: Final = click.Path(dir_okay=False, path_type=Path)
_FOLDER: Final = click.Path(file_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class About:
    """What a setting is beside its name, its type and its default."""

    flag: str
    """As click takes it; `--on/--off` for what can be switched off as well."""
    help: str
    """One sentence, or two."""
    reads: click.ParamType  # type: ignore[type-arg]
    """Reads one value from a text, whichever source it is of."""
    metavar: str | None = None
    secret: bool = False
    """Whether a value may hold a password: it is masked where it is shown, and may stand in a file of its own."""
    variable: str | None = None
    """Its variable, where that is not made of section and name."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; its docstring is the section's sentence in the documentation."""


class Data(Section, frozen=True):
    """Where an arena keeps what it is not told a place for."""

    folder: Annotated[
        Path | None,
        About(
            "--data",
            "The folder of the default store and of journals; the user's data folder if absent.",
            _FOLDER,
            variable="WAKENG_DATA",
        ),
    ] = None


class Store(Section, frozen=True):
    """The store of matches, records, bots and tokens."""

    url: Annotated[
        str | None,
        About(
            "--db",
            "The store, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME; a file in the data folder if absent.",
            URL,
            metavar="URL",
            secret=True,
        ),
    ] = None


class Serve(Section, frozen=True):
    """The arena's own port."""

    listen: Annotated[str, About("--listen", "Where to serve gRPC; port 0 picks one.", ADDRESS)] = "127.0.0.1:50050"
    grace: Annotated[float, About("--grace", "Seconds hands in play may take to end.", click.FloatRange(0))] = 30.0


class Tls(Section, frozen=True):
    """TLS of the arena's own port."""

    cert: Annotated[
        Path | None, About("--tls-cert", "The PEM certificate, with its chain, to serve TLS by.", _FILE)
    ] = None
    key: Annotated[Path | None, About("--tls-key", "The key of --tls-cert.", _FILE)] = None
    client_ca: Annotated[
        Path | None,
        About("--client-ca", "Demand of every caller a certificate that is signed by one of these.", _FILE),
    ] = None
    insecure: Annotated[
        bool,
        About("--insecure", "Serve other machines without TLS; something before it must see to that.", click.BOOL),
    ] = False


class Access(Section, frozen=True):
    """Who may call the arena, and whom it may call."""

    auth: Annotated[
        bool | None,
        About(
            "--auth/--no-auth",
            "Whether callers need tokens (`wakeng token`); without, every caller is an admin, so only this machine "
            "may be served. On by default where others are.",
            click.BOOL,
        ),
    ] = None
    allow_net: Annotated[
        tuple[str, ...],
        About(
            "--allow-net",
            "A network where the arena may dial bots that callers name, such as 10.0.0.0/8; else only this machine, "
            "for admins.",
            NETWORK,
            metavar="CIDR",
        ),
    ] = ()


class Bots(Section, frozen=True):
    """How the bots that the arena dials are trusted."""

    ca: Annotated[
        Path | None,
        About(
            "--bots-ca",
            "PEM certificates that those of bots at addresses must be signed by; the system's if absent. With it, or "
            "with --bots-cert, bots of this machine speak TLS too.",
            _FILE,
        ),
    ] = None
    cert: Annotated[Path | None, About("--bots-cert", "A PEM certificate to show to bots that demand one.", _FILE)] = (
        None
    )
    key: Annotated[Path | None, About("--bots-key", "The key of --bots-cert.", _FILE)] = None
    insecure: Annotated[bool, About("--insecure-bots", "No TLS to bots on other machines.", click.BOOL)] = False


class Journal(Section, frozen=True):
    """The journal, which tells every decision at once."""

    file: Annotated[
        Path | None,
        About("--journal", "Where every decision is logged; a file in the data folder if absent.", _OUT),
    ] = None


class Web(Section, frozen=True):
    """Pages to look at the arena by."""

    listen: Annotated[
        str | None,
        About("--web", "Serve pages at http://ADDR/; port 0 picks one.", ADDRESS, metavar="ADDR"),
    ] = None
    private: Annotated[
        bool,
        About(
            "--web-private",
            "Show pages to nobody without a token (`wakeng token`); else what is public is public.",
            click.BOOL,
        ),
    ] = False
    hosts: Annotated[
        tuple[str, ...],
        About(
            "--web-host",
            "A name that pages may be asked for by; any, where they are served to other machines and none is given.",
            click.STRING,
            metavar="NAME",
        ),
    ] = ()
    proxies: Annotated[
        tuple[str, ...],
        About(
            "--web-proxy",
            "A network of proxies, such as 127.0.0.1/32, that are believed when they say (X-Forwarded-For, "
            "X-Forwarded-Proto) for whom they ask.",
            NETWORK,
            metavar="CIDR",
        ),
    ] = ()


class Metrics(Section, frozen=True):
    """Figures for Prometheus."""

    listen: Annotated[
        str | None,
        About("--metrics", "Serve Prometheus metrics at http://ADDR/metrics.", ADDRESS, metavar="ADDR"),
    ] = None


class Nats(Section, frozen=True):
    """The queue that hands blocks of tournaments to workers (needs `wakeng[nats]`)."""

    url: Annotated[
        str | None,
        About(
            "--nats",
            "NATS with JetStream, nats://HOST:4222 or tls://HOST:4222, several by commas; workers then play the "
            "tournaments, and without it this process does.",
            URL,
            metavar="URL",
            secret=True,
        ),
    ] = None
    name: Annotated[
        str,
        About(
            "--nats-name",
            "This arena's name there; arenas that share a NATS system each have their own, and so have their workers.",
            click.STRING,
        ),
    ] = "wakeng"
    user: Annotated[str | None, About("--nats-user", "Who we are, with a password; or in the URL.", click.STRING)] = (
        None
    )
    password: Annotated[
        str | None, About("--nats-password", "The password of --nats-user.", click.STRING, secret=True)
    ] = None
    token: Annotated[str | None, About("--nats-token", "A token that lets us in.", click.STRING, secret=True)] = None
    creds: Annotated[Path | None, About("--nats-creds", "A credentials file: JWT and nkey of an account.", _FILE)] = (
        None
    )
    nkey: Annotated[Path | None, About("--nats-nkey", "A file with the seed of an nkey.", _FILE)] = None
    ca: Annotated[
        Path | None,
        About(
            "--nats-ca",
            "PEM certificates that the server's must be signed by, which means TLS; the system's if absent.",
            _FILE,
        ),
    ] = None
    cert: Annotated[Path | None, About("--nats-cert", "A PEM certificate to show to the server.", _FILE)] = None
    key: Annotated[Path | None, About("--nats-key", "The key of --nats-cert.", _FILE)] = None
    replicas: Annotated[
        int,
        About("--nats-replicas", "Servers of a cluster that keep the queue, where it is made.", click.IntRange(1, 5)),
    ] = 1


class Worker(Section, frozen=True):
    """One worker."""

    name: Annotated[
        str | None,
        About("--name", "Of the worker, unique among all; drawn from host and process if absent.", click.STRING),
    ] = None
    tables: Annotated[
        int, About("--tables", "Hands in play at once, at most.", click.IntRange(1, 10_000), metavar="N")
    ] = 64
    in_process: Annotated[
        bool, About("--in-process", "Seat built-in bots in this process: for trusted bots.", click.BOOL)
    ] = False
    attempts: Annotated[
        int,
        About(
            "--attempts",
            "After so many that failed by themselves, by an error or the worker's death, a block is struck off.",
            click.IntRange(1, 1000),
            metavar="N",
        ),
    ] = 3
    redeliver_after: Annotated[
        float | None,
        About(
            "--redeliver-after",
            "Seconds of silence after which a worker's blocks go to others, for all workers; 10 if nobody says.",
            click.FloatRange(1, 3600),
            metavar="S",
        ),
    ] = None
    drain: Annotated[
        float,
        About(
            "--drain", "Seconds that blocks in hand may take when the worker ends.", click.FloatRange(0), metavar="S"
        ),
    ] = 20.0


class Log(Section, frozen=True):
    """What is said on standard error, for people on a terminal and as JSON elsewhere."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        About("--log-level", "The least that is worth a line.", click.Choice(("debug", "info", "warning", "error"))),
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "text"],
        About(
            "--log-format",
            "How a line looks; `auto` is text on a terminal and JSON elsewhere.",
            click.Choice(("auto", "json", "text")),
        ),
    ] = "auto"


class Traces(Section, frozen=True):
    """OpenTelemetry traces: a trace for each sampled hand, a span for each of its decisions (needs `wakeng[otel]`)."""

    endpoint: Annotated[
        str | None,
        About("--traces", "Send traces by OTLP over gRPC, http://HOST:PORT; none if absent.", URL, metavar="URL"),
    ] = None
    sample: Annotated[
        float,
        About("--trace-sample", "The share of hands that are traced, 0 to 1.", click.FloatRange(0, 1), metavar="SHARE"),
    ] = 0.01


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of them."""

    data: Data = Data()
    store: Store = Store()
    serve: Serve = Serve()
    tls: Tls = Tls()
    access: Access = Access()
    bots: Bots = Bots()
    journal: Journal = Journal()
    web: Web = Web()
    metrics: Metrics = Metrics()
    nats: Nats = Nats()
    worker: Worker = Worker()
    log: Log = Log()
    traces: Traces = Traces()

    def contradictions(self) -> Iterator[str]:
        """What does not go together, in words of the flags."""
        if (self.tls.cert is None) != (self.tls.key is None):
            yield "--tls-cert and --tls-key go together (tls.cert, tls.key)"
        if self.tls.client_ca is not None and self.tls.cert is None:
            yield "--client-ca goes with --tls-cert and --tls-key (tls.client_ca, tls.cert, tls.key)"
        if (self.bots.cert is None) != (self.bots.key is None):
            yield "--bots-cert and --bots-key go together (bots.cert, bots.key)"
        if self.bots.insecure and (self.bots.ca or self.bots.cert):
            yield "--insecure-bots means no TLS, so no --bots-ca, --bots-cert or --bots-key (bots.insecure)"
        if (self.nats.cert is None) != (self.nats.key is None):
            yield "--nats-cert and --nats-key go together (nats.cert, nats.key)"
        if (self.nats.user is None) != (self.nats.password is None):
            yield "--nats-user and --nats-password go together (nats.user, nats.password)"
        if sum(map(bool, (self.nats.user, self.nats.token, self.nats.creds, self.nats.nkey))) > 1:
            yield "--nats-user, --nats-token, --nats-creds and --nats-nkey: one of them is enough"
