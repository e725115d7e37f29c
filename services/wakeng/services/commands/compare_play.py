"""Two bots compared: a tournament of swap pairs between them, and its test told in one line."""

import secrets
from dataclasses import dataclass
from typing import Any

import click

from wakeng.engine import RuleSet
from wakeng.services.commands.tournament_play import Local, Outcome, finish, play
from wakeng.services.commands.tournament_tell import print_json, sprt_line
from wakeng.services.spec import SeatSpec, SpecError
from wakeng.services.store import Store
from wakeng.services.tournament.options import Options
from wakeng.services.tournament.run import create
from wakeng.services.tournament.spec import Entrant, Format, TournamentSpec

_OPTIONS = {"options.d1": "--margin", "options.d0": "--margin", "options.max_blocks": "--max-blocks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question."""

    bots: tuple[SeatSpec, SeatSpec]
    rules: RuleSet
    margin: float | None
    two_sided: bool
    max_blocks: int | None
    seed: bytes

    def tournament(self) -> TournamentSpec:
        """The tournament that answers it; a bot against itself is called A and B there."""
        first, second = (seat.bot for seat in self.bots)
        names = (first, second) if first != second else (f"{first} A", f"{second} B")
        options: dict[str, Any] = {"d1": self.margin, "max_blocks": self.max_blocks, "two_sided": self.two_sided}
        try:
            return TournamentSpec(
                name=f"{names[0]} against {names[1]}"[:100],
                rules=self.rules,
                bots=tuple(Entrant(name[:100], seat) for name, seat in zip(names, self.bots, strict=True)),
                seed=self.seed,
                format=Format.SPRT,
                options=Options(**options),
            )
        except SpecError as problem:
            field = problem.field if problem.field.startswith("options.") else f"options.{problem.field}"
            said = str(problem).partition(": ")[2]
            raise click.UsageError(f"{_OPTIONS.get(field, field)}: {said}") from None


async def compare(asked: Asked, local: Local) -> int:
    """Play it and say what came of it; the command's exit status."""
    spec = asked.tournament()
    async with await Store.open(local.db) as store:
        tournament, _ = await create(store, f"c{secrets.token_hex(8)}", spec)
        outcome = await play(store, tournament, local, table=False)
    sprt = outcome.standings.to_dict()["sprt"]
    if local.as_json:
        print_json(_to_dict(outcome, sprt))
    else:
        click.echo(sprt_line(sprt, spec))
    for name, reason in outcome.not_ready.items():
        click.echo(f"{name} was not ready: {reason}", err=True)
    return finish(outcome, local)


def _to_dict(outcome: Outcome, sprt: dict[str, Any]) -> dict[str, Any]:
    """The outcome for machines; the points of the test are in units of the base."""
    spec = outcome.tournament.spec
    return {
        "tournament_id": outcome.tournament.id,
        "a": spec.bots[0].seat.bot,
        "b": spec.bots[1].seat.bot,
        "rules": spec.rules.to_dict(),
        "base": spec.rules.base,
        "d1": spec.margins[1],
        "max_blocks": spec.max_blocks,
        "two_sided": spec.options.two_sided,
        "complete": outcome.complete,
        "answer": sprt_line(sprt, spec),
        "sprt": sprt,
        "seed": spec.seed.hex(),
        "seed_commitment": spec.commitment,
        "seconds": round(outcome.seconds, 3),
    }
