"""What ``parity diff`` found, as tables for a terminal, a comment and programs, and as a page of episodes."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from functools import partial
from operator import itemgetter

import numpy as np
from rich.console import Console
from rich.text import Text

from parity.diff import START, Comparison, family_of, is_in, is_of_reward
from parity.engine import Array
from parity.finding import shrunk_report
from parity.pair import Pair
from parity.printing import changes_table
from parity.replay import Divergence
from parity.report import Report, counted, print_report, report_episode
from parity.table import Records, markdown_text
from parity.trace import trace_text
from parity.viewer.page import Page

MOST_MARKDOWN = 60_000
"""Bytes of a comment; GitHub takes 65,536 characters."""
WHOLE_EPISODES = 3
_CUT = "More is left out here, because a comment has a limit: see the page or the JSON file."
_Z = 1.959964


def tables(found: Comparison, expected: Sequence[str]) -> list[Records]:
    """The tables of a report, the one of what differs first."""
    world, episodes, unexpected = found.shared.world, found.episodes, found.unexpected(expected)
    unseen = [each for each in expected if not any(is_in(name, each) for name in found.families)]
    sums, earned = (found.components.sum(axis=axis) * world.component_unit for axis in (1, 2))
    per_component = zip(world.components, *sums.tolist(), strict=True)
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
            [
                (name, one, other, other - one, one / len(episodes), other / len(episodes))
                for name, one, other in per_component
            ],
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
        Records(
            "behaviour",
            "Decisions where observations differ",
            ("agent", "decisions", "other probabilities", "largest total variation"),
            [
                (agent, len(distances), sum(each > 0 for each in distances), max(distances))
                for agent, distances in found.behaviour.items()
                if distances
            ],
        ),
    ]


def _agents(found: Comparison) -> Records:
    """Returns of agents; none where B's observations, of another shape, leave games open."""
    is_open = not found.shared.observes and (found.parted >= 0).any()
    playing = [(part.name, own) for part, own in zip(found.parts, found.slots, strict=True) if part.is_agent]
    means = np.array([found.returns[:, own].mean(axis=1) for _, own in playing])
    ranks = (1 + (means[None] > means[:, None]).sum(axis=1)).tolist()
    rows = [
        (name, *map(_interval, (*found.returns[:, own], found.returns[1, own] - found.returns[0, own])), *rank)
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


def _interval(values: Array) -> list[float]:
    """The mean of values (n,) and its 95% normal interval, which is infinitely wide for a single value."""
    mean = float(np.mean(values))
    margin = _Z * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return [mean, mean - margin, mean + margin]


def small_cases(
    found: Comparison, alone: Pair, spec: str, command: str, most: int, seconds: float
) -> dict[str, Report]:
    """The first difference of each family, shrunk; those that another one shows as well are left out.

    ``alone`` plays single games of the two sides.
    """
    reports: dict[str, Report] = {}
    shown = {START}  # no game begins there
    for name, family in found.families.items():
        if name in shown or len(reports) == most:
            continue
        alone.ignores = partial(found.is_noise, wanted=name)
        report = shrunk_report(alone, spec, family.first, seconds, command)
        if name not in map(family_of, report.trace.differences):  # it shrank to another one that came with it
            report = shrunk_report(alone, spec, family.first, 0, command)
        reports[name] = report
        shown |= {name, *map(family_of, report.trace.differences)}
    return reports


def diff_page(
    found: Comparison, alone: Pair, records: Sequence[Records], cases: dict[str, Report], command: str
) -> Page:
    """A page with the small cases first, then the episodes whose rewards changed most while games stayed the same."""
    episodes = [report_episode(report, f"first in {name}", report.headline) for name, report in cases.items()]
    change = np.abs(found.components[1] - found.components[0]).sum(axis=1) * (found.parted < 0)
    alone.ignores = lambda _: True
    for slot in np.argsort(-change, kind="stable")[:WHOLE_EPISODES].tolist():
        if change[slot] > 0:
            report = shrunk_report(alone, "", Divergence(found.case(slot), ()), 0, "")
            one, other = (found.components[:, slot].sum(axis=1) * found.shared.world.component_unit).tolist()
            episodes.append(report_episode(report, found.episodes[slot], f"return {one:.6g} -> {other:.6g}"))
    changed = (
        (each, [f"{name} {one} -> {other}" for name, one, other, *_ in each.texts() if one != other])
        for each in records
        if each.name in ("components", "agents")
    )
    lines = (f"{each.title}: {', '.join(texts)}. {each.footer()}" for each, texts in changed)
    return Page(headline(found), found.shared.labels, episodes, (*about(found), *lines), command=command)


def headline(found: Comparison) -> str:
    """One sentence that says what was found."""
    one, other = found.shared.labels
    kinds = "only rewards differ" if all(map(is_of_reward, found.families)) else "games differ"
    return f"{one} and {other}: " + (
        f"{kinds} ({', '.join(found.families)})." if found.families else "nothing differs."
    )


def about(found: Comparison) -> tuple[str, ...]:
    """Sentences on what was compared."""
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


def print_diff(found: Comparison, records: Sequence[Records], cases: dict[str, Report], console: Console) -> None:
    """Print a report in the terminal."""
    console.print(Text(headline(found), style="bold"), soft_wrap=True)
    console.print("\n".join(about(found)), soft_wrap=True)
    for each in records:
        each.print(console)
    for name, report in cases.items():
        console.print(f"\nThe first difference in {name}:")
        print_report(report, console)


def markdown(found: Comparison, records: Sequence[Records], cases: dict[str, Report]) -> str:
    """A comment for a pull request: what differs first, all else folded, cut at whole sections where it is too long."""
    sentences = "\n".join(f"- {markdown_text(sentence)}" for sentence in about(found))
    blocks = [f"**{markdown_text(headline(found))}**", sentences, *(each.markdown() for each in records[:1])]
    blocks += [_folded(each.title, each.markdown()) for each in records[1:]]
    for name, report in cases.items():
        text = io.StringIO()
        print_report(report, Console(file=text, width=120, markup=False, emoji=False, highlight=False))
        fences = f"````text\n{text.getvalue().strip()}\n````\n\n````json\n{trace_text(report.trace).strip()}\n````"
        blocks.append(_folded(f"The first difference in {name}", fences))
    sizes = np.cumsum([len(block.encode()) + 2 for block in blocks])
    fitting = blocks[: int((sizes + len(_CUT) <= MOST_MARKDOWN).sum())]
    return "\n\n".join(fitting + [_CUT] * (len(fitting) < len(blocks))) + "\n"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>\n\n{body}\n\n</details>"
