"""What programs and agents read: documents, which ``command_line.run`` holds to their schemas, and the skill."""

import re
from pathlib import Path

import jsonschema
import pytest
from command_line import ORCHARD, commands_of, rlparity, run

from rlparity import __all__, adapters
from rlparity.cli.main import COMMANDS, OF_LEDGER, build_parser, main
from rlparity.core.verdict import Verdict
from rlparity.io.documents import document_value
from rlparity.tools.divergence import DivergenceDocument
from rlparity.tools.documents import DOCUMENTS


def test_every_command_with_json_has_a_schema() -> None:
    parsers = commands_of(build_parser()).items()
    assert {name for name, each in parsers if "--json" in each._option_string_actions} == {*DOCUMENTS}
    assert run(main, "schema") == (0, "\n".join(DOCUMENTS) + "\n", "")
    assert "there is no schema 'runs' (did you mean 'run'?)" in run(main, "schema", "runs").refusal()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_one_of_draft_2020_12(name: str) -> None:
    schema = run(main, "schema", name).json
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert not jsonschema.Draft202012Validator(schema).is_valid({})


def test_a_schema_refuses_what_is_no_document_of_its_command() -> None:
    schema = jsonschema.Draft202012Validator(run(main, "schema", "run").json)
    document = rlparity("run", "--games", "4", "--steps", "3", "--json").json
    wrong = [{"verdict": "FINE"}, {"games": "4"}, {"games": None}, {"more": 1}, {"divergences": [{"game": 0}]}]
    assert [schema.is_valid(document | change) for change in ({}, *wrong)] == [True, *[False] * 5]


@pytest.mark.parametrize(
    ("words", "code", "kind", "message", "following"),
    [
        ("run --steps 0 --json", 2, "usage", "rlparity run: argument --steps: it must be", "run --help"),
        ("replay no.json --json", 2, "usage", "there is no trace file no.json", "replay --help"),
        ("diff . nowhere --json -", 2, "usage", "", "diff --help"),
        ("diff . --json=-", 2, "usage", "the following arguments are required", "diff --help"),
        ("run --engines plain,dying --json", 3, "engine", "engine 'dying' failed in step", "--traceback run"),
    ],
)
def test_exit_codes_2_and_3_print_json(words: str, code: int, kind: str, message: str, following: str) -> None:
    command, *others = words.split()
    ran = rlparity(command, *others)
    assert (ran.code, ran.json["error"]["kind"], ran.err.count("\n")) == (code, kind, 1)
    assert message in ran.json["error"]["message"]
    assert ran.message == ran.json["error"]["message"]
    assert " ".join(ran.json["error"]["next"][0]["argv"]).startswith(f"rlparity {following}")


def test_a_fault_of_the_program_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a")

    monkeypatch.setattr("rlparity.cli.commands.run_lockstep", fail)
    ran = run(main, "run", "--world", ORCHARD, "--json")
    assert (ran.code, ran.json["error"]["kind"], ran.json["error"]["message"]) == (3, "bug", "KeyError('a')")


def test_a_part_that_is_optional_is_left_out() -> None:
    found = rlparity("run", "--engines", "plain,restless", "--no-report", "--json").json["divergences"][0]
    assert found.keys() == {"game", "step", "fields"}
    assert document_value({"a": (1, [None])}) == {"a": [1, [None]]}


FLAGS = {
    command.does.__name__: {word for name in command.flags for word in name.split() if word.startswith("--")}
    for command in COMMANDS
}
FLAGS["ledger"] = {word for command in OF_LEDGER for name in command.flags for word in name.split()}


def test_the_skill_is_printed_and_installed(tmp_path: Path) -> None:
    printed = run(main, "skill").out
    assert run(main, "skill", tmp_path).out == f"Wrote {tmp_path / 'port-an-environment/SKILL.md'}.\n"
    assert (tmp_path / "port-an-environment/SKILL.md").read_text() == printed
    head = re.match(r"---\nname: port-an-environment\ndescription: .{80,1024}\n---\n", printed)
    assert head, "agents choose a skill by its description"


def test_the_skill_s_commands_flags_and_verdicts_exist() -> None:
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
        assert hasattr(adapters, name) or name in __all__, name
