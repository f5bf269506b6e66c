"""The command ``rlparity diff``, which reports in the terminal, as a Markdown comment, as JSON and as a page."""

import html
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from rlparity.cli.commands import progress_bar
from rlparity.cli.flags import settings_of
from rlparity.core.pair import Pair
from rlparity.core.prices import changed_prices, read_prices
from rlparity.core.replay import Divergence
from rlparity.core.trace import trace_text, trace_value
from rlparity.engines.registry import load_world, world_spec
from rlparity.io.arguments import STANDARD_OUTPUT
from rlparity.io.atomic_write import write_output
from rlparity.io.console import Answer, command_words, counted, plain_text
from rlparity.io.intervals import paired_intervals
from rlparity.io.table import Records, markdown_text
from rlparity.tools.diff import START, Comparison, check_expected, family_of, is_in, is_of_reward
from rlparity.tools.diff_sides import build_corpus, open_side, share
from rlparity.tools.documents import DiffDocument, SideDocument
from rlparity.tools.finding import open_alone, shrunk_report
from rlparity.tools.printing import changes_table
from rlparity.tools.report import NextCommand, Report, print_report, report_episode
from rlparity.viewer.page import Page, PageEpisode
from rlparity.viewer.write import write_page

SHOWN_ROWS = 10
"""Rows shown of each table without --all."""
MOST_MARKDOWN = 60_000
"""Size limit of a Markdown comment in bytes; GitHub accepts 65,536 characters."""
WHOLE_EPISODES = 3
_CUT = "More is left out here, because a comment has a limit: see the page or the JSON file."


def diff(options: Namespace) -> Answer:
    """Compare two versions of an engine, such as two revisions, and show what a change does.

    The same games are played on both sides. The report lists by family what differs, shows small cases, and compares
    the returns of agents. Revisions, and . for the working directory, are those of the repository that the command
    runs in; the world must be imported from that repository.

    Examples:
        rlparity diff main . --world my_module:WORLD
        rlparity diff . . --world my_module:WORLD --price-b kills=0.5 --html diff.html
    """
    prints_json = options.json == STANDARD_OUTPUT
    spec = world_spec(options.world, [options.engine] if options.engine else ())
    local = load_world(spec)
    engine, prices = options.engine or next(iter(local.engines)), read_prices(options.price, options.prices)
    one = open_side(local, spec, engine, options.a, prices | read_prices(options.price_a, None))
    other = open_side(local, spec, engine, options.b, prices | read_prices(options.price_b, None))
    shared = share(local, (one, other))
    world, labels = shared.world, shared.labels
    check_expected(world, options.expect)
    settings = settings_of(options)
    parts = build_corpus(shared, settings, options.agent)
    with (
        Pair(world, labels, sum(len(part.games) for part in parts), timeout=settings.timeout) as pair,
        progress_bar(prints_json, "steps of each game", settings.steps) as advance,
    ):
        found = Comparison(shared, pair, parts, settings)
        found.play(advance)
    unexpected, most = found.unexpected(options.expect), None if options.all else SHOWN_ROWS
    every = [replace(each, most=most, rest="--all lists all") for each in tables(found, options.expect)]
    shown = [each for each in every if each.rows and found.families and (each.name != "components" or found.changes)]
    lines = headline(found, unexpected), *about(found)
    again = NextCommand("compare again", command_words("rlparity", "rlparity", *options.words))
    with open_alone(world, labels, found.case(0), settings.timeout) if shown else nullcontext(pair) as alone:
        cases = small_cases(found, alone, spec, again, options.cases, options.shrink_seconds)
        if options.html:
            write_page(diff_page(found, alone, lines, shown, cases, unexpected, again.text), world, options.html)
    if options.markdown:
        write_output(options.markdown, markdown(lines, shown, cases))
    document = _document(found, unexpected, every, cases)
    answer = Answer(document, lambda console: print_diff(lines, shown, cases, console), int(bool(unexpected)))
    if options.json and not prints_json:
        write_output(options.json, answer.text() + "\n")
    return answer


def _document(
    found: Comparison, unexpected: Sequence[str], every: Sequence[Records], cases: Mapping[str, Report]
) -> DiffDocument:
    shared, settings = found.shared, found.settings
    rows: dict[str, Any] = {each.name: each.values() for each in every}
    return DiffDocument(
        identical=not found.families,
        unexpected=unexpected,
        world=shared.local.name,
        sides=[
            SideDocument(label, side.commit, side.is_dirty, changed_prices(side.world))
            for label, side in zip(shared.labels, shared.sides, strict=True)
        ],
        notes=shared.notes,
        **{name: getattr(settings, name) for name in ("seed", "games", "steps")},
        transitions=int(found.compared.sum()),
        episodes=len(found.episodes),
        left=int((found.parted >= 0).sum()),
        refused=found.refused,
        **rows,
        cases={name: trace_value(report.trace) for name, report in cases.items()},
    )


def tables(found: Comparison, expected: Sequence[str]) -> list[Records]:
    """Make the tables of a report; the first lists the differences."""
    world, episodes, unexpected = found.shared.world, found.episodes, found.unexpected(expected)
    unseen = [each for each in expected if not any(is_in(name, each) for name in found.families)]
    sums, earned = (found.components.sum(axis=axis) * world.component_unit for axis in (1, 2))
    per_component = np.stack([*sums, sums[1] - sums[0], *sums / len(episodes)], axis=1).tolist()
    order = np.argsort(-np.abs(sums[1] - sums[0]), kind="stable").tolist()
    most_changed = np.argsort(-np.abs(earned[1] - earned[0]), kind="stable")
    return [
        Records(
            "families",
            "What differs",
            ("family", "transitions", "episodes", "first in", "after actions", "expected"),
            [
                (name, each.transitions, len(each.games), episodes[first.game], first.step, name not in unexpected)
                for name, each in found.families.items()
                for first in [each.first]
            ],
            f"Not found: {', '.join(unseen)}." if unseen else "",
        ),
        Records(
            "components",
            f"Rewards of {counted(int(found.compared.sum()), 'transition')}",
            ("component", "A", "B", "change", "A per episode", "B per episode"),
            [(world.components[each], *per_component[each]) for each in order],
        ),
        changes_table(world, "Largest changes of rewards", ("A", "B"), found.changes, world.component_unit),
        Records(
            "returns",
            "Episodes whose rewards changed most",
            ("episode", "steps", "A", "B"),
            [
                (episodes[game], int(found.compared[game]), *earned[:, game].tolist())
                for game in most_changed.tolist()
                if earned[0, game] != earned[1, game]
            ],
        ),
        _agents(found),
    ]


def _agents(found: Comparison) -> Records:
    """Table of agents' returns; empty where games parted and B's observations have a shape no agent can read."""
    is_open = not found.shared.observes and (found.parted >= 0).any()
    playing = [(part.name, own) for part, own in zip(found.parts, found.slots, strict=True) if part.is_agent]
    means = np.array([found.returns[:, own].mean(axis=1) for _, own in playing])
    ranks = (1 + (means[None] > means[:, None]).sum(axis=1)).tolist()
    rows = [
        (name, *paired_intervals(*found.returns[:, own]), *rank)
        for (name, own), rank in zip(playing, ranks, strict=True)
    ]
    moved = [f"{name} from {one} to {other}" for name, *_, one, other in rows if one != other]
    return Records(
        "agents",
        f"Return of agents in {counted(found.settings.games, 'game')}, up to step {found.settings.steps}",
        ("agent", "A", "B", "B - A", "rank in A", "rank in B"),
        [] if is_open else sorted(rows, key=itemgetter(4, 5)),
        f"The ranking changes: {', '.join(moved)}." if moved else "The ranking stays the same.",
    )


def small_cases(
    found: Comparison, alone: Pair, spec: str, again: NextCommand, most: int, seconds: float
) -> dict[str, Report]:
    """Shrink the first difference of each family, except families that show in another one's case as well.

    ``alone`` plays single games of the two sides.
    """
    reports: dict[str, Report] = {}
    shown = {START}  # a refused start has no game to shrink
    for name, family in found.families.items():
        if name in shown or len(reports) == most:
            continue
        alone.ignores = partial(found.is_noise, wanted=name)
        report = shrunk_report(alone, spec, family.first, seconds, (again,))
        if name not in map(family_of, report.trace.differences):  # it shrank to a simultaneous one: do not shrink
            report = shrunk_report(alone, spec, family.first, 0, (again,))
        reports[name] = report
        shown |= {name, *map(family_of, report.trace.differences)}
    return reports


def diff_page(
    found: Comparison,
    alone: Pair,
    lines: Sequence[str],
    records: Sequence[Records],
    cases: dict[str, Report],
    unexpected: Sequence[str],
    command: str,
) -> Page:
    """Make the page: small cases first, then the episodes whose rewards changed most while the games stayed equal."""

    def shown(report: Report, name: str, verdict: str, families: Iterable[str]) -> PageEpisode:
        return replace(report_episode(report, name, verdict), is_expected=not {*families} & {*unexpected})

    episodes = [
        shown(report, f"first in {name}", report.headline, (name, *map(family_of, report.trace.differences)))
        for name, report in cases.items()
    ]
    change = np.abs(found.components[1] - found.components[0]).sum(axis=1) * (found.parted < 0)
    alone.ignores = lambda _: True
    for slot in [slot for slot in np.argsort(-change, kind="stable")[:WHOLE_EPISODES].tolist() if change[slot]]:
        report = shrunk_report(alone, "", Divergence(found.case(slot), ()), 0)
        one, other = (found.components[:, slot].sum(axis=1) * found.shared.world.component_unit).tolist()
        families = (name for name, family in found.families.items() if slot in family.games)
        episodes.append(shown(report, found.episodes[slot], f"return {one:.6g} -> {other:.6g}", families))
    return Page(lines[0], found.shared.labels, episodes, tuple(lines[1:]), command=command, tables=tuple(records))


def headline(found: Comparison, unexpected: Sequence[str]) -> str:
    """Summarise in one sentence what differs, and whether it was expected."""
    names, sides = ", ".join(found.families), " and ".join(found.shared.labels)
    if not names:
        return f"{sides}: nothing differs."
    kinds = "only rewards differ" if all(map(is_of_reward, found.families)) else "games differ"
    some = f"not expected: {', '.join(unexpected)}" if len(unexpected) < len(found.families) else "not expected"
    return f"{sides}: {kinds} ({names}), {some if unexpected else 'as expected'}."


def about(found: Comparison) -> tuple[str, ...]:
    """Describe in sentences what was compared."""
    sides = [
        f"{letter}: {label}{f' at commit {side.commit[:12]}' if side.commit else ''}"
        f"{', with uncommitted changes' if side.is_dirty else ''}."
        for letter, side, label in zip("AB", found.shared.sides, found.shared.labels, strict=True)
    ]
    parts = ", ".join(f"{part.name} {len(part.games)}" for part in found.parts)
    transitions, parted = counted(int(found.compared.sum()), "transition"), int((found.parted >= 0).sum())
    games = f"{counted(len(found.episodes), 'episode')} ({parts}) and {transitions} compared."
    left = f" {counted(parted, 'episode')} left the comparison before the end." if parted else ""
    refused = f" {counted(found.refused, 'start')} refused." if found.refused else ""
    return (*sides, *found.shared.notes, f"World {found.shared.world.name}: {games}{left}{refused}")


def print_diff(lines: Sequence[str], records: Sequence[Records], cases: dict[str, Report], console: Console) -> None:
    """Print a report in the terminal; the first line is its headline, repeated after tables and cases."""
    console.print(Text(lines[0], style="bold"), soft_wrap=True)
    console.print("\n".join(lines[1:]), soft_wrap=True)
    for each in records:
        each.print(console)
    for name, report in cases.items():
        console.print(f"\nThe first difference in {name}:")
        print_report(report, console)
    if records or cases:
        console.print()
        console.print(Text(lines[0], style="bold"), soft_wrap=True)


def markdown(lines: Sequence[str], records: Sequence[Records], cases: dict[str, Report]) -> str:
    """Format a pull-request comment: differences first, other sections folded, cut at whole sections if too long."""
    first, *others = map(markdown_text, lines)
    blocks = [f"**{first}**", "\n".join(f"- {each}" for each in others), *(each.markdown() for each in records[:1])]
    blocks += [_folded(each.title, each.markdown()) for each in records[1:]]
    for name, report in cases.items():
        text = plain_text(partial(print_report, report))
        fences = (
            f"````text\n{text.strip()}\n````\n\n````json\n{trace_text(replace(report.trace, found=None)).strip()}\n````"
        )
        blocks.append(_folded(f"The first difference in {name}", fences))
    sizes = np.cumsum([len(block.encode()) + 2 for block in blocks])
    fitting = blocks[: int((sizes + len(_CUT) <= MOST_MARKDOWN).sum())]
    return "\n\n".join(fitting + [_CUT] * (len(fitting) < len(blocks))) + "\n"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>\n\n{body}\n\n</details>"
