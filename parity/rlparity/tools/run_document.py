"""The document of a run, in which each divergence says what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlparity.core.prices import changed_prices
from rlparity.core.settings import Outcome, Settings
from rlparity.tools.divergence import DivergenceDocument, Room, explained
from rlparity.tools.documents import RunDocument
from rlparity.tools.finding import Finding
from rlparity.tools.printing import effect_values, noise_table
from rlparity.world import World


def run_document(
    world: World, engines: tuple[str, str], settings: Settings, outcome: Outcome, findings: Sequence[Finding]
) -> RunDocument:
    """The document of a run. ``findings``: of its divergences, or none where nothing was reported."""
    divergences = [
        DivergenceDocument(found.step, [difference.field for difference in found.differences], found.game)
        for found in outcome.divergences
    ]
    room = Room(len(findings))
    for finding in findings:
        at = outcome.divergences.index(finding.alike[0])
        divergences[at] = replace(
            divergences[at],
            alike=len(finding.alike),
            trace=str(finding.trace_path),
            report=str(finding.page_path),
            **explained(finding.report, room),
        )
    return RunDocument(
        verdict=outcome.verdict,
        reasons=outcome.reasons,
        accepted=[reason.name for reason in outcome.accepted],
        world=world.name,
        prices=changed_prices(world),
        tolerances={field: [str(world.tolerance_of(field))] for field in world.tolerances},
        engines=engines,
        mode=settings.mode,
        source=settings.source,
        seed=settings.seed,
        games=settings.games,
        steps_compared=outcome.steps,
        episodes=outcome.episodes,
        seconds=round(outcome.seconds, 3),
        divergences=divergences,
        is_black_box=outcome.is_black_box,
        known=outcome.known,
        measured=outcome.measured,
        noise=None if outcome.noise is None else noise_table(outcome.noise, engines[0], settings.noise).values(),
        effect=None if outcome.effect is None else effect_values(outcome.effect, engines),
    )
