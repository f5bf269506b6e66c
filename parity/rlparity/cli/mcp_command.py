"""``rlparity mcp``: the program as a server for coding agents."""

from __future__ import annotations

from argparse import Namespace

from rlparity.errors import UsageError, install_command


def mcp(options: Namespace) -> int:
    """Serve runs, replays, the debugger and schemas to a coding agent, over the Model Context Protocol.

    It speaks on standard input and output, so that an agent's settings name it as a command. Each tool takes the flags
    of a command, plays in a process of its own, and gives the document that the command prints with --json.

    Examples:
        rlparity mcp
    """
    try:
        from rlparity.cli.mcp_server import serve
    except ImportError as error:
        if not str(error.name).startswith(("mcp", "anyio")):
            raise
        raise UsageError(f"the server needs mcp 2: run `{install_command('rl-parity[mcp]')}`.") from error
    serve(options.parser)
    return 0
