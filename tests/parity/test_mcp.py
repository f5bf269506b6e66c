"""``rlparity mcp``, as the official client of the protocol drives it through a process's standard streams."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import ORCHARD, rlparity, run

from rlparity.cli.main import main

WORLD, PORTED = ("--world", ORCHARD), ("--world", "ported:WORLD")
NO_SESSION = "no session is open: call debug first."
PORT = """
from dataclasses import replace
from faulty_orchard import WORLD as ORCHARD

WORLD = replace(ORCHARD, engines={{"plain": ORCHARD.engines["plain"], "port": ORCHARD.engines["{port}"]}})
"""


def arguments_of(tool: str, words: Sequence[str]) -> dict[str, object]:
    return {"command": words[0]} if tool == "debug_command" else {"arguments": words}


class Agent:
    """A client of the server, whose calls wait for their answers."""

    def __init__(self, portal: Any, client: Any) -> None:  # noqa: ANN401 - the client is imported where it is used
        self._portal, self._client = portal, client

    def ask(self, method: str, *words: object) -> Any:  # noqa: ANN401 - what the client gives
        """Call a method of the client."""
        return self._portal.call(getattr(self._client, method), *words)

    def call(self, tool: str, *words: str) -> Any:  # noqa: ANN401 - a JSON value
        """The document of a tool, which its text holds as well."""
        result = self.ask("call_tool", tool, arguments_of(tool, words))
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    def refusal(self, tool: str, *words: str) -> str:
        """The one sentence of a tool that does nothing."""
        result = self.ask("call_tool", tool, arguments_of(tool, words))
        (content,) = result.content
        assert (result.is_error, result.structured_content, content.text.count("\n")) == (True, None, 0), content.text
        return str(content.text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working directory of the server."""
    return tmp_path_factory.mktemp("agent")


@pytest.fixture(scope="module")
def agent(folder: Path) -> Iterator[Agent]:
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters

    environment = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    words = ["-P", "-m", "rlparity", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=folder)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, read_timeout_seconds=60)) as client,
    ):
        yield Agent(portal, client)


def test_tools_take_the_words_of_commands_and_say_what_they_are_for(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.ask("list_tools").tools}
    assert tools.keys() == {"run", "replay", "diff", "debug", "debug_command", "schema", "skill"}
    for name, flag in (
        ("run", "--max-divergences"),
        ("replay", "trace file"),
        ("diff", "--price-b"),
        ("debug", "--until"),
    ):
        assert flag in tools[name].description
        assert tools[name].input_schema["required"] == ["arguments"]
    assert "continue [CONDITION]" in tools["debug_command"].description
    assert tools["debug_command"].output_schema == tools["debug"].output_schema  # the client holds documents to them


def test_a_planted_fault_is_found_replayed_and_stepped_through(
    agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # where the documents' commands name files from
    found = agent.call("run", *WORLD, "--engines", "plain,restless", "--games", "8", "--price", "fruit=2")
    assert (found["verdict"], found["prices"]) == ("DIVERGENT", {"fruit": 2.0})
    trace = found["divergences"][0]["trace"]
    assert Path(trace).is_file()
    replayed = agent.call("replay", *WORLD, trace)
    assert replayed == rlparity("replay", "--json", trace).json
    assert [each["field"] for each in replayed["differences"]] == ["observation[0: hp]", "state.hp"]

    start = agent.call("debug", *WORLD, trace)
    assert (start["step"], start["differences"]) == (0, [])
    step = agent.call("debug_command", "step")
    assert (step["step"], step["message"]) == (1, "Fork 0, step 1: rest (5).")
    assert step["differences"] == replayed["differences"]
    assert agent.call("debug_command", "back")["state"] == start["state"]
    edited = agent.call("debug_command", "set hp = 3")
    assert edited["state"] == {**start["state"], "hp": 3}
    assert agent.refusal("debug_command", "set health = 3").startswith("'health' is no field of the state")
    assert agent.call("debug_command", "continue differs")["message"].startswith("Stopped at step 1")
    agent.call("debug_command", "test\ntest_hp.py")
    assert "assert_case" in Path("test_hp.py").read_text()


def test_a_call_plays_with_the_code_as_it_was_edited(agent: Agent, folder: Path) -> None:
    verdicts = []
    for port in ("restless", "planes"):
        (folder / "ported.py").write_text(f'print("{{\\nhello")\n{PORT.format(port=port)}')
        verdicts.append(agent.call("run", *PORTED, "--games", "8", "--steps", "40", "--no-report")["verdict"])
    assert agent.call("debug", *PORTED)["step"] == 0  # what is printed is no part of it
    assert verdicts[0] == "DIVERGENT"
    assert verdicts[1] in ("LIMITED", "PASS")


def test_a_side_of_a_diff_is_compared(agent: Agent) -> None:
    answer = agent.call("diff", ".", ".", *WORLD, "--price-b", "fruit=2", "--games", "4", "--steps", "20")
    assert (answer["identical"], answer["families"][0]["family"]) == (False, "rewards:fruit")


def test_mistakes_are_one_sentence(agent: Agent) -> None:
    assert "did you mean --games?" in agent.refusal("run", *WORLD, "--game", "8")
    assert agent.refusal("walk") == "there is no tool 'walk'."
    result = agent.ask("call_tool", "run", {"arguments": "--games 8"})
    assert result.content[0].text == 'arguments are a list of words, such as ["--games", "8"].'


def test_engines_that_hang_or_die_are_one_sentence(agent: Agent) -> None:
    assert "engine 'dying' failed" in agent.refusal("run", *WORLD, "--engines", "plain,dying")
    agent.call("debug", *WORLD, "--engines", "plain,hanging", "--timeout", "0.2")
    assert "gave no answer to step within 0.2 seconds" in agent.refusal("debug_command", "step rest")
    assert agent.call("debug_command", "go 0")["step"] == 0


def test_a_session_that_cannot_be_opened_leaves_none(agent: Agent) -> None:
    agent.call("debug", *WORLD)
    assert "cannot be imported" in agent.refusal("debug", "--world", "nowhere:WORLD")
    assert agent.refusal("debug_command", "step") == NO_SESSION


def test_a_session_ends_where_its_client_waits_no_longer(agent: Agent) -> None:
    agent.call("debug", *WORLD, "--engines", "plain,hanging")
    with pytest.raises(Exception, match="imed out"):
        agent.ask("call_tool", "debug_command", {"command": "step rest"}, 0.5)
    assert agent.refusal("debug_command", "step") == NO_SESSION


def test_schemas_and_the_skill_can_be_read(agent: Agent) -> None:
    assert agent.call("schema", "coverage") == run(main, "schema", "coverage").json
    assert agent.ask("call_tool", "skill", {"arguments": []}).content[0].text == run(main, "skill").out
