"""Model Context Protocol server, with commands and one session of the debugger as tools."""

import argparse
import json
from collections.abc import Mapping
from contextlib import suppress
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool

from rlparity import __version__
from rlparity.debug import debugger
from rlparity.engines.python_process import python_command
from rlparity.errors import unknown
from rlparity.io.documents import schema_of
from rlparity.tools.documents import DOCUMENTS

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "run": ("--json",),
    "replay": ("--json",),
    "diff": ("--json=-",),
    "debug": ("--commands",),
    "schema": (),
    "skill": (),
}
"""Commands that are tools, and the arguments that the server adds."""
DEBUG, DEBUG_COMMAND = "debug", "debug_command"
_WORDS = {"type": "array", "items": {"type": "string"}, "description": "what follows the command, such as --games, 8"}
_COMMAND = {"type": "string", "description": "such as: continue differs state.hp"}
_END = b"\n}\n"
"""End of a JSON document in the debugger's output."""
_LONGEST_ANSWER = 256 * 2**20
_SECONDS_TO_END = 1
_INSTRUCTIONS = (
    "Holds a port of a reinforcement-learning environment to its original. Read `skill` first. `run` finds the first "
    "difference and writes a trace; `debug` opens a game or a trace, and `debug_command` steps through it. Every call "
    "imports the code anew, and so sees what was edited; a session keeps the code that it was opened with."
)


class Tools:
    """Handlers of the tools, and the open session of the debugger."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        (commands,) = (each.choices for each in parser._actions if isinstance(each.choices, dict))
        self._parsers: dict[str, argparse.ArgumentParser] = {name: commands[name] for name in COMMANDS}
        self._session: tuple[Process, BufferedByteReceiveStream] | None = None
        self._lock = anyio.Lock()

    async def list(self, _: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        """List all tools with their descriptions and schemas."""
        lines = "\n".join(f"{name} {text}" for name, (_, _, text) in debugger.COMMANDS.items())
        gives = {name: schema_of(kind) for name, kind in DOCUMENTS.items()}
        gives[DEBUG_COMMAND] = gives[DEBUG]

        def tool(name: str, text: str, **takes: Any) -> Tool:  # noqa: ANN401 - schemas
            schema = {"type": "object", "properties": takes, "required": [*takes]}
            return Tool(name=name, description=text, input_schema=schema, output_schema=gives.get(name))

        tools = [tool(name, each.format_help(), arguments=_WORDS) for name, each in self._parsers.items()]
        text = f"Carry out a command in the session that {DEBUG} opened.\n\n{lines}"
        return ListToolsResult(tools=[*tools, tool(DEBUG_COMMAND, text, command=_COMMAND)])

    async def call(self, _: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        """Call a tool; return the command's output or the debugger's position, or one sentence for an error."""
        name, arguments = params.name, params.arguments or {}
        if name == DEBUG_COMMAND:
            async with self._lock:
                return await self._carry_out(str(arguments.get("command", "")))
        if name not in COMMANDS:
            return _fault(f"there is no tool {unknown(name, (*COMMANDS, DEBUG_COMMAND))}.")
        words = arguments.get("arguments") or []
        if not isinstance(words, list):
            return _fault('arguments are a list of words, such as ["--games", "8"].')
        command = python_command("-m", "rlparity", name, *COMMANDS[name], *map(str, words))
        if name != DEBUG:
            ended = await anyio.run_process(command, stdin=DEVNULL, check=False)
            return _result(ended.stdout, ended.stderr)
        async with self._lock:
            await self.end_session()
            process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=None)
            assert process.stdout is not None
            self._session = process, BufferedByteReceiveStream(process.stdout)
            if (started := await self._answer(self._session[1])).is_error:
                await self.end_session()
            return started

    async def _carry_out(self, command: str) -> CallToolResult:
        """Send a command to the debugger and return its answer."""
        if self._session is None:
            return _fault(f"no session is open: call {DEBUG} first.")
        process, answers = self._session
        assert process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # then the read below gets no answer
            await process.stdin.send(" ".join(command.split()).encode() + b"\n")
        return await self._answer(answers)

    async def _answer(self, answers: BufferedByteReceiveStream) -> CallToolResult:
        """Receive the session's next answer; end the session if there is none or the request is cancelled."""
        answer = b""
        try:
            with suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
                answer = await answers.receive_until(_END, _LONGEST_ANSWER) + _END
        finally:
            if not answer:
                await self.end_session()
        return _result(answer)

    async def end_session(self) -> None:
        """End the open session, if any; kill its process where it is busy."""
        session, self._session = self._session, None
        if session is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_SECONDS_TO_END):
                await session[0].aclose()


def serve(parser: argparse.ArgumentParser) -> None:
    """Serve one client on standard input and output until it disconnects; ``parser``: of the whole command line."""
    anyio.run(_serve, Tools(parser))


async def _serve(tools: Tools) -> None:
    server: Server[Any] = Server(
        "rlparity", version=__version__, instructions=_INSTRUCTIONS, on_list_tools=tools.list, on_call_tool=tools.call
    )
    try:
        async with stdio_server() as (source, sink):
            await server.run(source, sink, server.create_initialization_options())
    finally:
        await tools.end_session()


def _result(output: bytes, log: bytes = b"") -> CallToolResult:
    """Convert a command's output to a result: its JSON document or its text, or the last log line if it is empty."""
    text = output.decode(errors="replace").strip()
    if not text:
        return _fault((log.decode(errors="replace").splitlines() or ["the process ended without an answer."])[-1])
    with suppress(ValueError):
        document = json.loads(text)
        if "error" in document:
            return _fault(document["error"]["message"])
        return CallToolResult(content=[TextContent(text=text)], structured_content=document)
    return CallToolResult(content=[TextContent(text=output.decode())])


def _fault(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=sentence)], is_error=True)
