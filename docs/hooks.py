"""MkDocs hooks: the reference pages that are generated from the code, and links out of the documentation."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from goodharts.cli.game import GAME as GOODHARTS
from goodharts.rules import MODES, marks_of
from hackmatrix.cli.game import GAME as HACKMATRIX
from hackmatrix.rules import MARKS as HACKMATRIX_MARKS
from parity.arguments import parser_of
from parity.cli import build_parser
from rlworldkit.cli.app import kit_commands, main

ROOT = Path(__file__).resolve().parents[1]
GAMES = (HACKMATRIX, GOODHARTS)
COMMANDS_PAGE, API_PAGE = "commands.md", "api.md"
API = {
    "The harness": ("parity", "parity.testing", "parity.lockstep", "parity.settings", "parity.trace", "parity.shrink"),
    "Worlds in rlworldkit": ("rlworldkit.jax.env", "rlworldkit.game", "rlworldkit.envs.spec", "rlworldkit.watch.spec"),
    "Training and evaluation": (
        *("rlworldkit.ppo.training", "rlworldkit.ppo.config", "rlworldkit.sb3.training", "rlworldkit.sb3.config"),
        *("rlworldkit.settings", "rlworldkit.config_layers", "rlworldkit.evaluation.spec"),
    ),
    "HackMatrix": ("hackmatrix.gym_env", "hackmatrix.gym_wrappers", "hackmatrix.rules", "hackmatrix.jax_training"),
    "Goodharts": ("goodharts.gym_env", "goodharts.rules", "goodharts.jax_training"),
}
"""Modules of the Python reference, by heading."""
MARKS = {
    "hackmatrix": HACKMATRIX_MARKS,
    "goodharts": {mark: rule for mode in MODES.values() for mark, rule in marks_of(mode).items()},
}
"""World -> mark -> rule id: a page has the table of a world where it says ``<!-- marks: WORLD -->``."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, content in ((COMMANDS_PAGE, commands_page()), (API_PAGE, api_page())):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert tables of marks, and name files outside ``docs`` instead of linking to them.

    Raises ValueError where a file is missing.
    """

    def name(match: re.Match[str]) -> str:
        target = ((Path(config.docs_dir) / page.file.src_uri).parent / match[2]).resolve()
        if target.is_relative_to(config.docs_dir):
            return match[0]  # which MkDocs checks
        if not target.exists():
            raise ValueError(f"{page.file.src_uri} links to {match[2]}, which does not exist.")
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    markdown = re.sub(r"<!-- marks: (\w+) -->", lambda match: marks_table(MARKS[match[1]]), markdown)
    return re.sub(r"\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)", name, markdown)


def marks_table(marks: Mapping[str, str]) -> str:
    """The marks of a world by their rules."""
    rows = {rule: [mark for mark in marks if marks[mark] == rule] for rule in dict.fromkeys(marks.values())}
    lines = [f"| {rule} | {', '.join(f'`{mark}`' for mark in found)} |" for rule, found in rows.items()]
    return "\n".join(["| rule | marks |", "|---|---|", *lines])


def commands_page() -> str:
    """Every command with its flags, defaults and meanings, from the parsers."""
    lines = ["# Commands", "", "Generated from the code; `COMMAND --help` prints the same.", ""]
    for parser in _parsers():
        lines += [f"## `{parser.prog}`", "", *_paragraphs(parser.description or ""), ""]
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [f"| {_names(action)} | {_help(parser, action)} |" for action in parser._actions if _is_shown(action)]
        lines += ["", *_paragraphs(parser.epilog or ""), ""]
    return "\n".join(lines)


def api_page() -> str:
    """The Python reference, which mkdocstrings fills in."""
    lines = ["# Python API", ""]
    for heading, modules in API.items():
        lines += [f"## {heading}", "", *(f"::: {module}\n" for module in modules)]
    return "\n".join(lines)


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
