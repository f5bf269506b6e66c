"""Terminal output of the ``rlparity`` commands, and the document of a run; ``report`` prints traces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from rich.console import Console

from rlparity.core.compare import value_text
from rlparity.core.prices import changed_prices, prices_text
from rlparity.core.replay import Divergence
from rlparity.core.settings import STRICT, Effect, Noise, Outcome, Settings
from rlparity.core.trace import Action
from rlparity.core.verdict import sentences
from rlparity.io.console import counted
from rlparity.io.intervals import paired_intervals
from rlparity.io.table import Records, Table
from rlparity.tools.coverage import Coverage
from rlparity.tools.divergence import ROOM, DivergenceDocument, explained
from rlparity.tools.documents import EffectDocument, RunDocument
from rlparity.tools.finding import Finding, grouped
from rlparity.tools.mutants import CAUGHT, SURVIVED, MutantVerdict
from rlparity.tools.report import action_name, difference_table, print_report
from rlparity.tools.rewards import Change, RewardsDocument
from rlparity.world import World


def print_run(
    world: World,
    engines: tuple[str, str],
    outcome: Outcome,
    findings: Sequence[Finding],
    console: Console,
    mode: str = STRICT,
) -> None:
    """Print the verdict of a run, what it compared and tolerated, and a report of each divergence.

    Without ``findings``, the first difference of each group of divergences is shown as the run found it.
    """
    speed = f"{outcome.seconds:.1f} s, {outcome.steps / max(outcome.seconds, 1e-9):,.0f} steps/s"
    done = f"{counted(outcome.steps, 'step')} compared, {counted(outcome.episodes, 'game')} ended ({speed})"
    verdict = str(outcome.verdict)
    if any(outcome.known.values()) and not outcome.divergences:
        verdict += f" but for {counted(sum(outcome.known.values()), 'known difference')}"
    console.print(f"{engines[0]} and {engines[1]}: {verdict}; {done}.", soft_wrap=True)
    if mode != STRICT:
        console.print(f"Mode: {mode}.")
    if outcome.is_black_box:
        console.print("Black box: without states, only what is shown is compared (observations, masks, rewards, ends).")
    if names := ", ".join(outcome.measured.get("declarations", {}).get("left_out", ())):
        console.print(f"Declared by one engine alone, and not compared: {names}.", soft_wrap=True)
    for name, count in outcome.known.items():
        console.print(f"Known difference '{name}': {counted(count, 'time')}.", soft_wrap=True)
    for sentence in sentences(outcome.reasons):
        console.print(sentence, soft_wrap=True)
    if names := ", ".join(reason.name for reason in outcome.accepted):
        console.print(f"Accepted by the world: {names}.", soft_wrap=True)
    if outcome.effect is not None:
        effect_table(outcome.effect, engines).print(console)
    for finding in findings:
        console.print(f"\n{_place(finding.alike)}:")
        print_report(finding.report, console)
        console.print(f"Page: {finding.page_path}", soft_wrap=True)
    for alike in () if findings else grouped(outcome.divergences):
        last = action_name(world, next(reversed(alike[0].case.actions), None))
        console.print(f"\n{_place(alike, f', after {last}')}:")
        console.print(difference_table(alike[0].differences, engines, "--json lists their fields"))


def run_document(
    world: World, engines: tuple[str, str], settings: Settings, outcome: Outcome, findings: Sequence[Finding]
) -> RunDocument:
    """Build the document of a run. ``findings``: reports of its divergences, empty where none were written."""
    divergences = [
        DivergenceDocument(found.step, [difference.field for difference in found.differences], found.game)
        for found in outcome.divergences
    ]
    for finding in findings:
        at = outcome.divergences.index(finding.alike[0])
        divergences[at] = replace(
            divergences[at],
            alike=len(finding.alike),
            trace=str(finding.trace_path),
            report=str(finding.page_path),
            **explained(finding.report, ROOM // len(findings)),
        )
    effect = outcome.effect
    first = [] if effect is None else sorted(effect.first[effect.first >= 0].tolist())
    return RunDocument(
        verdict=outcome.verdict,
        reasons=outcome.reasons,
        accepted=[reason.name for reason in outcome.accepted],
        world=world.name,
        prices=changed_prices(world),
        tolerances={field: [str(world.tolerance_of(field))] for field in world.tolerances},
        engines=engines,
        **{name: getattr(settings, name) for name in ("mode", "source", "seed", "games")},
        steps_compared=outcome.steps,
        episodes=outcome.episodes,
        seconds=round(outcome.seconds, 3),
        divergences=divergences,
        **{name: getattr(outcome, name) for name in ("is_black_box", "known", "met", "games_begun", "measured")},
        noise=None if outcome.noise is None else noise_table(outcome.noise, engines[0], settings.noise).values(),
        effect=None if effect is None else EffectDocument(effect_table(effect, engines).values(), first),
    )


def effect_table(effect: Effect, engines: tuple[str, str]) -> Records:
    """Table of means and of paired differences with 95% intervals, and a note on when differences begin."""
    rows = [
        (name, *paired_intervals(*sides), int((sides[0] != sides[1]).sum())) for name, sides in effect.measures.items()
    ]
    seen = effect.first[effect.first >= 0]
    note = f"What is shown differs in {len(seen):,} of {len(effect.first):,} games"
    if seen.size:
        first = counted(int(seen.min()), "action")
        note += f", first after {first}, in the median game after {np.median(seen):,.0f}"
    one, other = engines
    header = "of an episode", one, other, f"{other} - {one}", "games that differ"
    return Records("effect", "What a user sees", header, rows, f"{note}.")


def noise_table(floor: Mapping[str, Noise], engine: str, runs: int) -> Records:
    """Table of an engine's noise: the fields that vary between runs of itself, and tolerances that cover them."""
    rows = [
        (each.field, each.places, each.absolute, each.ulps, str(each.tolerance(engine, runs) or "no number covers it"))
        for each in floor.values()
    ]
    header = "field", "places", "largest difference", "in ulps", "tolerance"
    note = "" if rows else "Nothing varies: no tolerance is needed."
    return Records("noise", f"Noise floor: {engine} against itself in {counted(runs, 'run')}", header, rows, note)


def _place(alike: Sequence[Divergence], action: str = "") -> str:
    first, *others = alike
    more = f" ({len(others)} more with the same action and fields)" if others else ""
    return f"Game {first.game}, step {first.step}{action}{more}"


def print_notes(world: World, prices: Mapping[str, float], console: Console) -> None:
    """Print the conditions of a run: changed prices, and fields with a tolerance."""
    if prices:
        console.print(f"Prices: {prices_text(prices)}.", soft_wrap=True)
    for field in world.tolerances:
        console.print(f"Not compared bit for bit: {field} {world.tolerance_of(field)}.", soft_wrap=True)


def print_coverage(found: Coverage, engines: tuple[str, str], console: Console) -> None:
    """Print how often each mark fired, and which rules did not."""
    table = Table("rule", "mark", *engines)
    for mark in found.marks:
        style = "red" if mark.expected != mark.observed or not mark.expected else ""
        table.add_row(mark.rule, mark.mark, f"{mark.expected:,}", f"{mark.observed:,}", style=style)
    console.print(table)
    hit = len(found.rules) - len(found.never)
    console.print(f"{hit} of {counted(len(found.rules), 'rule')} hit.")
    _print_names(console, "Never hit", found.never)
    _print_names(console, "Rarely hit", found.rare)
    _print_names(console, "Marks that never fired", found.silent_marks)
    _print_names(console, "Marks counted differently", found.unequal_marks)


def print_rewards(world: World, engines: tuple[str, str], found: RewardsDocument, console: Console) -> None:
    """Print which rewards changed, where, and whether the engines agree."""
    new, changes = found.new_components, found.changes
    console.print(f"{counted(found.episodes, 'golden episode')}, {counted(found.transitions, 'transition')}.")
    if changes:
        table = Table("component", "transitions changed", "sum of changes (reward)")
        for name in dict.fromkeys((*world.components, *(change.component for change in changes))):
            if touched := [change for change in changes if change.component == name]:
                total = sum(change.amount for change in touched) * world.component_unit
                table.add_row(name, f"{len(touched):,}", f"{total:+.10g}")
        console.print(table)
    else:
        console.print("No reward has changed.")
    sides = "recorded", "now"
    if changed := [change for change in changes if change.component not in new]:
        changes_table(world, f"What changed ({engines[0]})", sides, changed).print(console)
    for name in new:
        if earning := [change for change in changes if change.component == name]:
            changes_table(world, f"What earns {name}, which is new ({engines[0]})", sides, earning).print(console)
        else:
            console.print(f"No transition earns {name}, which is new.")
    if found.disagreements:
        changes_table(world, "Where the engines disagree", engines, found.disagreements).print(console)
    else:
        console.print(f"{engines[0]} and {engines[1]} agree.")


def changes_table(
    world: World, title: str, sides: tuple[str, str], changes: Sequence[Change], unit: float | None = None
) -> Records:
    """Table of changed components, in the engines' own units or, times ``unit``, in reward."""

    def value(side: int | float | None) -> object:
        return "none" if side is None else value_text(side) if unit is None else side * unit

    def named(action: Action) -> str:
        return world.actions[action] if isinstance(action, int) else value_text(action)

    rows = [
        (each.episode, each.step, named(each.action), each.component, value(each.before), value(each.after))
        for each in changes
    ]
    return Records("changes", title, ("episode", "step", "action", "component", *sides), rows)


def print_mutants(verdicts: Sequence[MutantVerdict], noticed: int, judged: int, console: Console) -> None:
    """Print the result of each mutant, and the share that was caught."""
    table = Table("engine", "mutant", "rules", "result", "steps", "seen in")
    for verdict in verdicts:
        cells = verdict.engine, verdict.name, ", ".join(verdict.rules), verdict.result
        style = "" if verdict.noticed else "red"
        table.add_row(*cells, f"{verdict.steps:,}", verdict.detail, style=style)
    console.print(table)
    share = f" ({100 * noticed / judged:.3g}%)" if judged else ""
    steps = [verdict.steps for verdict in verdicts if verdict.result == CAUGHT and verdict.steps]
    taken = (
        f", half of them within {counted(int(np.median(steps)), 'step')}, all within {max(steps):,}" if steps else ""
    )
    console.print(f"{noticed} of {counted(judged, 'mutant')} caught{share}{taken}.", soft_wrap=True)
    for survivor in (each for each in verdicts if each.result == SURVIVED):
        rules = f" ({', '.join(survivor.rules)})" if survivor.rules else ""
        console.print(f"Survived: {survivor.name}{rules}", soft_wrap=True)
    _print_names(console, "Not judged", [each.name for each in verdicts if not each.is_judged])


def _print_names(console: Console, text: str, names: Sequence[str]) -> None:
    if names:
        console.print(f"{text}: {', '.join(names)}.")
