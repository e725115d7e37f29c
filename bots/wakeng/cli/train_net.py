"""`wakeng train net`: the network of `net`, learnt anew by self-play on one core."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.cli.errors import NotThere
from wakeng.cli.terminal import QUIET, console, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from wakeng.bots.training.run import Run, Told

_MINUTES: Final = 50.0
_TELL_SECONDS: Final = 10.0


@click.command("net", short_help="The network of net, by self-play.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help=f"Time to train.  [default: {_MINUTES:g}]")
@click.option("--hands", type=click.IntRange(1, 10**9), help="Instead: the result then follows from the seed alone.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Of deals and first weights.  [default: 0]")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default="xian.net", show_default=True,
    help="The weights file.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run that was stopped or killed.")
@click.option("--json", "as_json", is_flag=True, help="Print the run's record as JSON.")
def net(minutes: float | None, hands: int | None, seed: int | None, out: Path, *, resume: bool, as_json: bool) -> int:
    """Train the value network of `net` for the card play of xian, on one core, without a GPU.

    It plays hands by the million against itself, in the last two fifths partly against `expert`, and learns from how
    they end. Half an hour gives a network that beats `expert`; the last minutes are worth as much as all before, since
    the rate of learning falls only then. A checkpoint beside the weights file (FILE.checkpoint) is kept every half
    minute, and when you press Ctrl-C; --resume goes on from it, and with --minutes lengthens the last part of a run,
    finished or not. At the end the network is measured against `expert`, and the weights file says how it was made. It
    needs wakeng[search].

    \b
    wakeng train net --minutes 50 --seed 8 --out my.net
    wakeng train net --out my.net --resume
    wakeng train net --out my.net --resume --minutes 70
    """
    from wakeng.bots.extras import MissingExtra, demand

    try:
        demand("train net", extra="search", modules=("numpy", "numba"))
    except MissingExtra as problem:
        raise NotThere(str(problem)) from None
    checkpoint = out.with_name(out.name + ".checkpoint")
    if minutes is not None and hands is not None:
        raise click.UsageError("--minutes and --hands are two ways to say the same; give one of them")
    run = _resumed(checkpoint, minutes, hands, seed) if resume else _begun(checkpoint, minutes, hands, seed)
    with console(stderr=True).status("compiling …") as status:
        run.warm_up()
        try:
            run.go(checkpoint, _teller(status.update))
        except KeyboardInterrupt:
            click.echo(f"stopped; go on with: wakeng train net --out {out} --resume", err=True)
            raise
        status.update("measuring …")
        record = _finish(run, out)
    if as_json:
        print_json(record)
    else:
        _report(out, record)
    return 0


def _begun(checkpoint: Path, minutes: float | None, hands: int | None, seed: int | None) -> "Run":
    from wakeng.bots.training.run import begin

    if checkpoint.exists():
        raise click.UsageError(f"{checkpoint} holds a run; --resume goes on with it, or remove it")
    if minutes is None and hands is None:
        minutes = _MINUTES
    return begin(minutes=minutes, hands=hands, seed=seed or 0)


def _resumed(checkpoint: Path, minutes: float | None, hands: int | None, seed: int | None) -> "Run":
    from wakeng.bots.training.checkpoint import CheckpointError, load
    from wakeng.bots.training.run import Run

    if seed is not None:
        raise click.UsageError("a run that goes on keeps its --seed; leave it out")
    try:
        state = load(checkpoint)
    except CheckpointError as problem:
        raise click.BadParameter(str(problem), param_hint="'--resume'") from None
    if minutes is not None or hands is not None:
        try:
            state.lengthen(minutes=minutes, hands=hands)
        except ValueError as problem:
            raise click.UsageError(str(problem)) from None
    return Run(state)


def _teller(update: "Callable[[str], None]") -> "Callable[[Told], None]":
    """Tell of progress every so often: on a terminal in place, else line by line."""
    live = console(stderr=True).is_terminal
    last = -_TELL_SECONDS

    def tell(told: "Told") -> None:
        nonlocal last
        if told.seconds - last < _TELL_SECONDS and told.progress < 1:
            return
        last = told.seconds
        text = (
            f"{told.progress:.1%} · stage {told.stage + 1} of 2 · {told.hands:,} hands · {told.samples:,} samples"
            f" · squared error {told.error:.2f}"
        )
        update(text)
        if not live:
            click.echo(text, err=True)

    return tell


def _finish(run: "Run", out: Path) -> dict[str, Any]:
    from wakeng.bots.network.weights import write
    from wakeng.bots.training.result import weights_of

    weights = weights_of(run.state)
    write(out, weights)
    return dict(weights.training)


def _report(out: Path, record: dict[str, Any]) -> None:
    found = record["over_expert"]
    hands = sum(stage["hands"] for stage in record["stages"])
    screen = console()
    screen.print(f"{out}: {hands:,} hands; {found['points']:+.2f} ± {found['error']:.2f} points a hand over expert")
    serve = f"wakeng serve-bot net --listen 127.0.0.1:50051 --weights {out}"
    screen.print(f"{found['deals']:,} duplicate deals; serve it with: {serve}", style=QUIET)
