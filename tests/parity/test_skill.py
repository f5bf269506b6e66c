"""The skill for coding agents: it is printed and installed, and names commands, flags and verdicts that there are."""

from __future__ import annotations

import re
from pathlib import Path

from command_line import run

import rlparity.adapters
from rlparity.cli.main import COMMANDS, OF_LEDGER, main
from rlparity.core.verdict import Verdict
from rlparity.tools.divergence import DivergenceDocument

FLAGS = {
    command.does.__name__: {word for name in command.flags for word in name.split() if word.startswith("--")}
    for command in COMMANDS
}
FLAGS["ledger"] = {word for command in OF_LEDGER for name in command.flags for word in name.split()}


def test_it_is_printed_and_installed(tmp_path: Path) -> None:
    printed = run(main, "skill").out
    assert run(main, "skill", tmp_path).out == f"Wrote {tmp_path / 'port-an-environment/SKILL.md'}.\n"
    assert (tmp_path / "port-an-environment/SKILL.md").read_text() == printed
    head = re.match(r"---\nname: port-an-environment\ndescription: .{80,1024}\n---\n", printed)
    assert head, "agents choose a skill by its description"


def test_its_commands_flags_and_verdicts_exist() -> None:
    text = run(main, "skill").out
    lines = re.findall(r"(?:`|^)rlparity ([a-z]+)([^`\n#]*)", text, re.MULTILINE)
    assert {"run", "replay", "init", "mutants", "coverage", "record"} <= {command for command, _ in lines}
    for command, words in lines:
        assert {*re.findall(r"--[a-z-]+", words)} <= FLAGS[command], command
    assert {*re.findall(r"`(--[a-z-]+)", text)} <= FLAGS["run"]
    assert {*re.findall(r"\| `([A-Z]+)` \|", text)} == {*Verdict}
    told = text.partition("Of each divergence")[2].partition("`error`")[0]
    named = {*re.findall(r"`([a-z]+)`", told)} - {"expected", "observed"}
    assert {"signature", "next"} < named <= DivergenceDocument.__annotations__.keys()
    for name in ("GymGame", "PytreeGame", "Draws", "gymnax_game", "SingleGame", "Pairing"):
        assert name in text
        assert hasattr(rlparity.adapters, name) or hasattr(rlparity, name), name
