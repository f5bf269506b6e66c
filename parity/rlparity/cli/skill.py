"""``rlparity skill``: what a coding agent must know to port an environment."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files

from rlparity.io.atomic_write import write_text

NAME = "port-an-environment"


def skill(options: Namespace) -> int:
    """Print how to port an environment with this program, or install it as a skill of a coding agent.

    A skill is a folder with a file SKILL.md. Agents look for skills in folders of their own, such as .claude/skills.

    Examples:
        rlparity skill
        rlparity skill .claude/skills
    """
    text = files("rlparity").joinpath(f"skills/{NAME}/SKILL.md").read_text(encoding="utf-8")
    if options.folder is None:
        print(text, end="")
        return 0
    path = options.folder / NAME / "SKILL.md"
    write_text(path, text)
    print(f"Wrote {path}.")
    return 0
