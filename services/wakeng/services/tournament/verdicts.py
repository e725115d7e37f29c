"""What a tournament's spec asks of the statistics: the ratings that pair, the test that stops, the standings."""

from collections.abc import Iterable

from wakeng.services.tournament.pairing import Rate
from wakeng.services.tournament.prefix import Progress
from wakeng.services.tournament.schedule import Stop
from wakeng.services.tournament.spec import Format, TournamentSpec
from wakeng.services.tournament.statistics import Block, HandResult, Standings, SwapTest, rater, sprt_options, standings

_ADAPTIVE = (Format.SWISS, Format.LADDER)


def names(spec: TournamentSpec) -> tuple[str, ...]:
    """The field."""
    return tuple(bot.name for bot in spec.bots)


def rating(spec: TournamentSpec) -> Rate[Block] | None:
    """The ratings that Swiss and ladder pair by."""
    return rater(names(spec), ridge=spec.options.lambda_pairing) if spec.pairing in _ADAPTIVE else None


def stop_rule(spec: TournamentSpec) -> Stop[Block] | None:
    """The test that ends a sprt."""
    if spec.format is not Format.SPRT:
        return None
    first, second = names(spec)
    return SwapTest(first, second, sprt_options(spec)).add


def standings_of(spec: TournamentSpec, progress: Progress[HandResult, Block]) -> Standings:
    """The standings over the prefix."""
    return standings_over(spec, (block for _, block in progress.results if block), prefix=progress.prefix)


def standings_over(spec: TournamentSpec, blocks: Iterable[Block], *, prefix: int) -> Standings:
    """The standings over blocks of a prefix, those struck off left out."""
    sprt = spec.format is Format.SPRT
    return standings(
        list(blocks),
        names(spec),
        prefix=prefix,
        planned=None if sprt else spec.planned_blocks,
        test=sprt_options(spec) if sprt else None,
        # A ladder chooses its blocks by their results, so only intervals that hold at every moment hold at its end.
        watched=True if spec.pairing is Format.LADDER else None,
        options=spec.options,
        differing=spec.differing(),
        commitment=spec.commitment,
        adaptive=spec.pairing in _ADAPTIVE,
    )
