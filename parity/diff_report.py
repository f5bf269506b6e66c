"""What ``parity diff`` found, as tables for a terminal, a comment and programs, and as a page of episodes."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from rich.console import Console
from rich.text import Text

from parity.diff import START, Comparison, family_of, is_in, is_of_reward
from parity.engine import Array
from parity.finding import shrunk_report
from parity.pair import Pair
from parity.replay import Divergence
from parity.report import Report, action_name, counted, print_report, report_episode
from parity.table import Table
from parity.trace import trace_text
from parity.viewer.page import Page

MOST_MARKDOWN = 60_000
"""Bytes of a comment; GitHub takes 65,536 characters."""
SHOWN_ROWS = 20
WHOLE_EPISODES = 3
_CUT = "More is left out here, because a comment has a limit: see the page or the JSON file."
_Z = 1.959964


@dataclass(frozen=True)
class Section:
    """A table: its name for programs and its title for people; rows are JSON values, and intervals lists of three."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    sentence: str = ""

    def texts(self) -> list[list[str]]:
        """The first rows, as people read them."""
        return [list(map(_text, row)) for row in self.rows[:SHOWN_ROWS]]

    def note(self) -> str:
        """What is said under the table."""
        more = len(self.rows) - SHOWN_ROWS
        return " ".join(filter(None, [f"... and {more} more in --json." if more > 0 else "", self.sentence]))


def _text(value: object) -> str:
    if isinstance(value, list):
        mean, low, high = map(_text, value)
        return f"{mean} [{low}, {high}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _interval(values: Array) -> list[float]:
    """The mean of values (n,) and its 95% normal interval, which is infinitely wide for a single value."""
    mean = float(np.mean(values))
    margin = _Z * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return [mean, mean - margin, mean + margin]


def sections(found: Comparison, expected: Sequence[str]) -> list[Section]:
    """The tables of a report, the one of what differs first."""
    world, episodes, unexpected = found.shared.world, found.episodes, found.unexpected(expected)
    families = [
        (name, each.transitions, len(each.games), episodes[each.first.game], each.first.step, name not in unexpected)
        for name, each in found.families.items()
    ]
    unseen = [each for each in expected if not any(is_in(name, each) for name in found.families)]
    unit = world.component_unit
    sums = found.components.sum(axis=1) * unit
    rewards = [
        (name, one, other, other - one, one / len(episodes), other / len(episodes))
        for name, (one, other) in zip(world.components, sums.T.tolist(), strict=True)
    ]
    changes = [
        (episodes[game], step, action_name(world, action), world.components[column], one * unit, other * unit)
        for (game, step, action, column), (one, other) in zip(
            found.changes[:, :4].astype(int).tolist(), found.changes[:, 4:].tolist(), strict=True
        )
    ]
    earned = found.components.sum(axis=2) * unit
    changed = np.argsort(-np.abs(earned[1] - earned[0]), kind="stable")
    games = [
        (episodes[game], int(found.compared[game]), *earned[:, game].tolist())
        for game in changed.tolist()
        if earned[0, game] != earned[1, game]
    ]
    behaviour = [
        (agent, len(distances), sum(each > 0 for each in distances), max(distances))
        for agent, distances in found.behaviour.items()
        if distances
    ]
    header = ("family", "transitions", "episodes", "first in", "after actions", "expected")
    return [
        Section("families", "What differs", header, families, f"Not found: {', '.join(unseen)}." if unseen else ""),
        Section(
            "components",
            f"Rewards of {counted(int(found.compared.sum()), 'transition')}",
            ("component", "A", "B", "change", "A per episode", "B per episode"),
            rewards,
        ),
        Section("changes", "Largest changes of rewards", ("episode", "step", "action", "component", "A", "B"), changes),
        Section("returns", "Episodes whose rewards changed most", ("episode", "steps", "A", "B"), games),
        _agents(found),
        Section(
            "behaviour",
            "Decisions where observations differ",
            ("agent", "decisions", "other probabilities", "largest total variation"),
            behaviour,
        ),
    ]


def _agents(found: Comparison) -> Section:
    """Returns of agents; none where B's observations, of another shape, leave games open."""
    agents = [
        (part.name, found.returns[:, own]) for part, own in zip(found.parts, found.slots, strict=True) if part.is_agent
    ]
    is_open = not found.shared.observes and (found.parted >= 0).any()
    means = np.array([returns.mean(axis=1) for _, returns in agents])
    ranks = 1 + (means[None] > means[:, None]).sum(axis=1)
    rows = [
        (name, _interval(one), _interval(other), _interval(other - one), *rank)
        for (name, (one, other)), rank in zip(agents, ranks.tolist(), strict=True)
    ]
    moved = [f"{name} from {one} to {other}" for name, *_, one, other in rows if one != other]
    return Section(
        "agents",
        f"Return of agents in {counted(found.settings.games, 'game')}, up to step {found.settings.steps}",
        ("agent", "A", "B", "B - A", "rank in A", "rank in B"),
        [] if is_open else sorted(rows, key=itemgetter(4, 5)),
        "" if is_open else f"The ranking changes: {', '.join(moved)}." if moved else "The ranking stays the same.",
    )


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


def diff_page(found: Comparison, alone: Pair, tables: Sequence[Section], cases: dict[str, Report]) -> Page:
    """A page with the small cases first, then the episodes whose rewards changed most while games stayed the same."""
    episodes = [report_episode(report, f"first in {name}", report.headline) for name, report in cases.items()]
    change = np.abs(found.components[1] - found.components[0]).sum(axis=1) * (found.parted < 0)
    alone.ignores = lambda _: True
    for slot in np.argsort(-change, kind="stable")[:WHOLE_EPISODES].tolist():
        if change[slot] > 0:
            report = shrunk_report(alone, "", Divergence(found.case(slot), ()), 0, "")
            one, other = (found.components[:, slot].sum(axis=1) * found.shared.world.component_unit).tolist()
            episodes.append(report_episode(report, found.episodes[slot], f"return {one:.6g} -> {other:.6g}"))
    lines = []
    for table in tables:
        if table.name in ("components", "agents"):
            changed = [f"{name} {one} -> {other}" for name, one, other, *_ in table.texts() if one != other]
            lines.append(f"{table.title}: {', '.join(changed)}. {table.note()}")
    return Page(headline(found), found.shared.labels, episodes, (*about(found), *lines))


def headline(found: Comparison) -> str:
    """One sentence that says what was found."""
    one, other = found.shared.labels
    if not found.families:
        return f"{one} and {other}: nothing differs."
    kinds = "only rewards differ" if all(map(is_of_reward, found.families)) else "games differ"
    return f"{one} and {other}: {kinds} ({', '.join(found.families)})."


def about(found: Comparison) -> tuple[str, ...]:
    """Sentences on what was compared."""
    sides = [
        f"{letter}: {label}{f' at commit {side.commit[:12]}' if side.commit else ''}"
        f"{', with uncommitted changes' if side.is_dirty else ''}."
        for letter, side, label in zip("AB", found.shared.sides, found.shared.labels, strict=True)
    ]
    parts = ", ".join(f"{part.name} {len(part.starts)}" for part in found.parts)
    games = (
        f"{counted(len(found.episodes), 'episode')} ({parts}) and {counted(int(found.compared.sum()), 'transition')}"
    )
    parted = int((found.parted >= 0).sum())
    left = f" {counted(parted, 'episode')} left the comparison before the end." if parted else ""
    refused = f" {counted(found.refused, 'start')} refused." if found.refused else ""
    return (*sides, *found.shared.notes, f"World {found.shared.world.name}: {games} compared.{left}{refused}")


def print_diff(found: Comparison, tables: Sequence[Section], cases: dict[str, Report], console: Console) -> None:
    """Print a report in the terminal."""
    console.print(Text(headline(found), style="bold"), soft_wrap=True)
    console.print("\n".join(about(found)), soft_wrap=True)
    for section in tables:
        table = Table(*section.header, title=Text(section.title), title_justify="left")
        for row in section.texts():
            table.add_row(*map(Text, row))
        console.print(table)
        if note := section.note():
            console.print(note, soft_wrap=True)
    for name, report in cases.items():
        console.print(f"\nThe first difference in {name}:")
        print_report(report, console)


def markdown(found: Comparison, tables: Sequence[Section], cases: dict[str, Report]) -> str:
    """A comment for a pull request: what differs first, all else folded, cut at whole sections where it is too long."""
    blocks = [f"**{_escaped(headline(found))}**", "\n".join(f"- {_escaped(sentence)}" for sentence in about(found))]
    for section in tables:
        rows = section.header, ["---"] * len(section.header), *section.texts()
        table = "\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in rows)
        body = f"{table}\n\n{_escaped(section.note())}".strip()
        blocks.append(body if section is tables[0] else _folded(section.title, body))
    for name, report in cases.items():
        text = io.StringIO()
        print_report(report, Console(file=text, width=120, markup=False, emoji=False, highlight=False))
        fences = (
            f"````{kind}\n{part.strip()}\n````"
            for kind, part in (("text", text.getvalue()), ("json", trace_text(report.trace)))
        )
        blocks.append(_folded(f"The first difference in {name}", "\n\n".join(fences)))
    size, fitting = len(_CUT.encode()), []
    for block in blocks:
        size += len(block.encode()) + 2
        fitting.append(block if size <= MOST_MARKDOWN else _CUT)
        if size > MOST_MARKDOWN:
            break
    return "\n\n".join(fitting) + "\n"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>\n\n{body}\n\n</details>"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_|[]~" else sign for sign in text)
    return html.escape(marked, quote=False).replace("\n", " ")
