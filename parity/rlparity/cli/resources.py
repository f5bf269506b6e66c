"""Commands that run no engine: the project template, the skill, the schemas, and the server for coding agents."""

from argparse import Namespace
from importlib.resources import files

from rlparity.errors import UsageError, install_command, unknown
from rlparity.io.atomic_write import write_text
from rlparity.io.documents import schema_of
from rlparity.io.strict_json import json_text
from rlparity.tools.documents import DOCUMENTS, FailureDocument

PROJECT = {"project.toml": "pyproject.toml", "workflow.yml": ".github/workflows/rlparity.yml"}
"""Template file -> path in the new project."""
FULL = ("__main__.py", "env.py", "in_jax.py", "score.py", "show.py")
"""Modules written only with ``--full``: rlworldkit trains, evaluates and shows the world with them."""
_ONLY_FULL = "  # full"
"""Suffix of template lines that are written only with ``--full``."""
SKILL = "port-an-environment"


def init(options: Namespace) -> int:
    """Write a starter project: a world of two small engines, its tests and its CI job.

    `python -m pytest` in the folder compares the two engines. Then replace them with your own.

    Examples:
        rlparity init my-port
        rlparity init --full my-world
    """
    templates = files("rlparity.templates")
    texts = {name: templates.joinpath(template) for template, name in PROJECT.items()}
    for folder in ("orchard", "orchard/golden"):
        found = (each for each in templates.joinpath(folder).iterdir() if each.is_file())
        texts |= {f"{folder}/{each.name}": each for each in found if options.full or each.name not in FULL}
    paths = {options.folder / name: text.read_text(encoding="utf-8") for name, text in texts.items()}
    if there := [path for path in paths if path.exists() or path.is_symlink()]:
        raise UsageError(f"{there[0]} is there already, and nothing was written: name another folder.")
    for path, text in paths.items():
        lines = text.splitlines()
        kept = [line.removesuffix(_ONLY_FULL) for line in lines if options.full or not line.endswith(_ONLY_FULL)]
        write_text(path, "\n".join(kept) + "\n")
    world = options.folder / "orchard" / "world.py"
    print(f"Wrote {world} and {len(paths) - 1} more files. Run `python -m pytest` there.")
    return 0


def skill(options: Namespace) -> int:
    """Print a guide to porting an environment, or install it as a skill of a coding agent.

    A skill is a folder with a file SKILL.md. Agents look for skills in folders of their own, such as .claude/skills.

    Examples:
        rlparity skill
        rlparity skill .claude/skills
    """
    text = files("rlparity").joinpath(f"skills/{SKILL}/SKILL.md").read_text(encoding="utf-8")
    if options.folder is None:
        print(text, end="")
        return 0
    path = options.folder / SKILL / "SKILL.md"
    write_text(path, text)
    print(f"Wrote {path}.")
    return 0


def schema(options: Namespace) -> int:
    """Print the JSON Schema of a command's --json output, or list the commands that have one.

    The schema also covers the output of a command that fails with exit code 2 or 3.

    Examples:
        rlparity schema
        rlparity schema run
    """
    if options.name is None:
        print("\n".join(DOCUMENTS))
        return 0
    if options.name not in DOCUMENTS:
        raise UsageError(f"there is no schema {unknown(options.name, DOCUMENTS)}: choose among {', '.join(DOCUMENTS)}.")
    print(json_text(schema_of(DOCUMENTS[options.name] | FailureDocument), indent=2))
    return 0


def mcp(options: Namespace) -> int:
    """Serve runs, replays, the debugger and schemas to a coding agent, over the Model Context Protocol.

    It uses standard input and output: name it as a command in the agent's settings. Each tool takes the flags of a
    command, runs it in a process of its own, and returns the document that the command prints with --json.

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
