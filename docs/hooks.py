"""MkDocs hooks: pages that are generated from the code or stand elsewhere, and links out of the documentation."""

from __future__ import annotations

import argparse
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from goodharts.cli.main import PROGRAM as GOODHARTS
from goodharts.rules import MODES, marks_of
from hackmatrix.cli.main import PROGRAM as HACKMATRIX
from hackmatrix.rules import MARKS as HACKMATRIX_MARKS
from rlparity import __version__
from rlparity.cli.main import build_parser
from rlparity.io.arguments import parser_of
from rlworldkit.cli.app import kit_commands, main

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
STUDIES = ROOT / "studies" / "ports"
PORTS = {path: f"ports/{path.parent.name}.md" for path in sorted(STUDIES.glob("*/README.md"))}
PORTS = {STUDIES / "README.md": "ports/index.md", **PORTS}
"""Reports on ports that stand beside their pairs, and the pages that they are."""
GAMES = (HACKMATRIX, GOODHARTS)
API = {
    "Worlds by their names": ("rlworldkit.api",),
    "The harness": (
        "rlparity",
        "rlparity.testing",
        "rlparity.core.lockstep",
        "rlparity.core.settings",
        "rlparity.core.trace",
        "rlparity.core.shrink",
    ),
    "Environments of other libraries": (
        *("rlparity.adapters", "rlparity.adapters.gymnasium", "rlparity.adapters.pytree", "rlparity.adapters.draws"),
        *("rlparity.adapters.single", "rlparity.adapters.named", "rlparity.adapters.pairing"),
        "rlparity.adapters.starts",
    ),
    "Worlds in rlworldkit": ("rlworldkit.jax.env", "rlworldkit.render.show", "rlworldkit.score", "rlworldkit.program"),
    "Training and evaluation": (
        *("rlworldkit.ppo.training", "rlworldkit.ppo.config", "rlworldkit.sb3.training", "rlworldkit.sb3.config"),
        *("rlworldkit.settings", "rlworldkit.agents.agent", "rlworldkit.agents.reader"),
    ),
    "HackMatrix": ("hackmatrix.gym_env", "hackmatrix.gym_wrappers", "hackmatrix.rules", "hackmatrix.env"),
    "Goodharts": ("goodharts.gym_env", "goodharts.rules", "goodharts.env"),
}
"""Modules of the Python reference, by heading."""
MARKS = {
    "hackmatrix": HACKMATRIX_MARKS,
    "goodharts": {mark: rule for mode in MODES.values() for mark, rule in marks_of(mode).items()},
}
"""World -> mark -> rule id: a page has the table of a world where it says ``<!-- marks: WORLD -->``."""


Groups = dict[str, dict[str, str]]
"""Generated pages of a section: heading -> path -> Markdown; those without a heading come first."""


def on_config(config: MkDocsConfig) -> None:
    """Show the version on every page."""
    config.site_name = f"{config.site_name} {__version__}"


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the generated pages, and put each section in the place where the navigation has its folder."""
    sections = {"commands/": command_pages(), "api/": api_pages(), "notebooks/": notebook_pages()}
    sections["ports/"] = {"": {page: port_page(path) for path, page in PORTS.items()}}
    for groups in sections.values():
        for path, content in (page for pages in groups.values() for page in pages.items()):
            files.append(File.generated(config, path, content=content))
    for notebook in NOTEBOOKS:
        files.append(File.generated(config, f"notebooks/{notebook.name}", abs_src_path=str(notebook)))
    config.nav = _with_sections(config.nav, sections)


def _with_sections(nav: Any, sections: Mapping[str, Groups]) -> Any:  # noqa: ANN401 - lists and dicts of YAML
    if isinstance(nav, list):
        return [_with_sections(part, sections) for part in nav]
    if isinstance(nav, dict):
        return {title: _with_sections(part, sections) for title, part in nav.items()}
    groups = dict(sections.get(nav, {}))
    return [*groups.pop("", ()), *({title: list(pages)} for title, pages in groups.items())] or nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert tables of marks, and name files outside ``docs`` that are no pages instead of linking to them.

    Raises ValueError where a file is missing.
    """

    def name(match: re.Match[str]) -> str:
        target = ((Path(config.docs_dir) / page.file.src_uri).parent / match[2]).resolve()
        if target.is_relative_to(config.docs_dir):
            return match[0]  # which MkDocs checks
        if target in NOTEBOOKS:
            here = posixpath.dirname(page.file.src_uri)
            return f"[{match[1]}]({posixpath.relpath(f'notebooks/{target.stem}.md', here)})"
        if target in PORTS:
            return f"[{match[1]}]({posixpath.relpath(PORTS[target], posixpath.dirname(page.file.src_uri))})"
        if not target.exists():
            raise ValueError(f"{page.file.src_uri} links to {match[2]}, which does not exist.")
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    markdown = re.sub(r"<!-- marks: (\w+) -->", lambda match: marks_table(MARKS[match[1]]), markdown)
    return re.sub(r"\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)", name, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the dialog of the search, which the theme leaves without a name."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def marks_table(marks: Mapping[str, str]) -> str:
    """The marks of a world by their rules."""
    rows = {rule: [mark for mark in marks if marks[mark] == rule] for rule in dict.fromkeys(marks.values())}
    lines = [f"| {rule} | {', '.join(f'`{mark}`' for mark in found)} |" for rule, found in rows.items()]
    return "\n".join(["| rule | marks |", "|---|---|", *lines])


def command_pages() -> Groups:
    """Every command with its flags, defaults and meanings, from the parsers."""
    index = ["# Commands", "", "Generated from the code; `COMMAND --help` prints the same.", ""]
    groups: Groups = {"": {"commands/index.md": ""}}
    for parser in _parsers():
        program, name = parser.prog.split()[0], parser.prog.replace(" ", "-")
        if program not in groups:
            index += ["", f"## {program}", "", "| command | purpose |", "|---|---|"]
        groups.setdefault(program, {})[f"commands/{name}.md"] = command_page(parser)
        purpose = re.split(r"(?<=\.)\s", _cell(parser.description or ""))[0]
        index.append(f"| [`{parser.prog}`]({name}.md) | {purpose} |")
    groups[""]["commands/index.md"] = "\n".join(index)
    return groups


def command_page(parser: argparse.ArgumentParser) -> str:
    """A command's page."""
    lines = [f"# `{parser.prog}`", "", *_paragraphs(parser.description or ""), ""]
    lines += ["| argument | meaning |", "|---|---|"]
    lines += [f"| {_names(action)} | {_help(parser, action)} |" for action in parser._actions if _is_shown(action)]
    return "\n".join([*lines, "", *_paragraphs(parser.epilog or "")])


def api_pages() -> Groups:
    """The Python reference, whose pages mkdocstrings fills in."""
    index = ["# Python API", ""]
    groups: Groups = {"": {"api/index.md": ""}}
    for heading, modules in API.items():
        index += [f"## {heading}", "", *(f"- [`{module}`]({module}.md)" for module in modules), ""]
        groups[heading] = {f"api/{module}.md": f"# `{module}`\n\n::: {module}\n" for module in modules}
    groups[""]["api/index.md"] = "\n".join(index)
    return groups


def notebook_pages() -> Groups:
    """The notebooks, with what people write into them and nothing that they print."""
    return {"": {f"notebooks/{path.stem}.md": notebook_page(path) for path in NOTEBOOKS}}


def notebook_page(path: Path) -> str:
    """A notebook as Markdown, whose links begin at ``docs``."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    (_, first), *others = [(kind, text.replace("](../docs/", "](../")) for kind, text in cells]
    blocks = [text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in others]
    return "\n\n".join([first, f"[Download the notebook]({path.name}){{ download }}", *blocks])


def port_page(path: Path) -> str:
    """A report of ``studies/ports`` as Markdown, whose links to files begin at ``docs``."""

    def moved(match: re.Match[str]) -> str:
        return f"[{match[1]}]({posixpath.relpath((path.parent / match[2]).resolve(), ROOT / 'docs' / 'ports')})"

    return re.sub(r"\[([^\]]+)\]\((?!\w+:)([^)#]+)\)", moved, path.read_text("utf-8"))


def _parsers() -> Iterator[argparse.ArgumentParser]:
    yield from _commands_of(build_parser())
    for game in GAMES:
        for command in (*kit_commands(game), *game.commands):
            yield parser_of(partial(main, game, [command]))


def _commands_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of its commands, and of theirs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from _commands_of(command)


def _is_shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)


def _names(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    if not action.option_strings:
        return f"`{value.strip()}`"
    return ", ".join(f"`{flag}{value}`" for flag in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return _cell(parser._get_formatter()._expand_help(action) if action.help else "")


def _paragraphs(text: str) -> Iterator[str]:
    """Lines of Markdown; indented paragraphs are code."""
    for paragraph in text.split("\n\n"):
        yield from ("```text", paragraph, "```", "") if paragraph.startswith(" ") else (_cell(paragraph), "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
