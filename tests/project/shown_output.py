"""What pages show of their commands: run block by block, compared with what is printed, and written anew.

In a folder, in the page's order: ``console`` blocks are commands (``$``) and what they print, where ``...`` stands for
any lines; a command without lines shows nothing. ``python`` blocks are programs; blocks with a title are files;
``diff`` blocks change such files. Other blocks are for people only.

``make docs-output`` writes anew what differs from what is printed: all of it but what a mask names (``MASKS``).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import reduce
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
README = "README"
FAST = (README, "tutorials/debug-a-reward", "how-to/environments")
LONG = (
    "tutorials/change-a-reward",
    "tutorials/hold-a-port",
    "tutorials/train-and-watch",
    "how-to/parity-in-ci",
    "how-to/port-gymnasium",
    "how-to/training",
    "how-to/watch-play-evaluate",
)
"""``test_own_world.py`` has tutorials/your-own-world."""
SHORTER = {
    "make train": "hackmatrix train --preset quick",
    "--preset quick": "--preset quick --num-envs 16 --num-steps 32 --total-timesteps 31232 --num-minibatches 2 "
    "--update-epochs 2 --hidden-dim 16",  # as many updates
    "--total-timesteps 500000": "--total-timesteps 7680",
    "make goodharts": "goodharts train --engine jax --mode all --network mlp --updates 2",
}
"""Shorter commands that are run instead, replaced in this order."""
FIGURE = r"-?\d[\d,.:]*"
MASKS = {
    "seconds": (r"", r"\d[\d,.]*(?= (?:s|ms|minutes)\b)"),
    "speeds": (r"", r"\d[\d,.]*(?= steps/s\b)"),
    "sizes of files": (r"", r"\d[\d,.]*(?= [KM]B\b)"),
    "commits": (r"", r"(?<=at commit )[0-9a-f]{7,}"),
    "names of runs": (r"", r"hackmatrix-\d{8}-\d{6}"),
    "settings of a shortened training": (
        r"train",
        r"--(?:total-timesteps|num-minibatches|update-epochs) [\d,]+|\d+ games x \d+ steps \(\d+ epochs of \d+ mini",
    ),
    "figures of agents that were trained on another machine": (
        r"checkpoints/\S|goodharts evaluate",
        rf"{FIGURE}(?:%? \[[^\]]*\])?",  # with their intervals, which equal runs have not
    ),
}
"""What may vary: its name, what the commands have in common whose output it is in, and what of a line it is."""
VARIABLES = {"COLUMNS": "100", "TERM": "dumb", "WANDB_MODE": "disabled"}
ANY = "..."
ALIKE = 0.6
"""The least similarity of a shown line and the one that takes its place."""
Carry = Callable[[str], tuple[int, str]]
"""Runs a command, and gives its exit code and all that it prints."""


class Shown(NamedTuple):
    """A command of a page, the lines beneath it there, and those that it prints."""

    command: str
    lines: list[str]
    printed: list[str]


def in_shell(folder: Path) -> Carry:
    """Runs commands in a folder as somebody types them."""
    paths = (ROOT / "parity", ROOT / "parity/rlparity/templates", ROOT / "python", ROOT / "tests" / "parity")
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> tuple[int, str]:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def page_file(page: str) -> Path:
    """The file of a page."""
    return ROOT / f"{page}.md" if page == README else ROOT / "docs" / f"{page}.md"


def carried_out(page: str, folder: Path, run: Carry, left_out: str = "$^") -> Iterator[Shown]:
    """Run the blocks of a page in a folder, and give each command that shows lines; ``left_out``: commands to skip.

    Raises AssertionError where a command or a program fails, or ends otherwise than its comment says.
    """
    for number, (language, title, text) in enumerate(BLOCK.findall(page_file(page).read_text())):
        if language == "console":
            for command, lines in COMMAND.findall(text):
                if re.search(left_out, command):
                    continue
                code, output = run(
                    reduce(lambda words, longer: words.replace(longer, SHORTER[longer]), SHORTER, command)
                )
                (expected,) = re.findall(r"# exit code (\d)$", command) or ["0"]
                assert code == int(expected), f"$ {command}\n{output[-5000:]}"
                yield Shown(command, lines.splitlines(), output.splitlines())
        elif language == "diff":
            change(text, folder / title)
        elif title:
            (folder / title).write_text(text)
        elif language == "python" and page != README:  # whose program trains; another test runs it
            (folder / f"block{number}.py").write_text(text)
            code, output = run(f"python block{number}.py")
            assert code == 0, f"{text}\n{output[-3000:]}"


def change(diff: str, file: Path) -> None:
    """Apply a diff; its old text must occur once."""
    lines = [line for line in diff.splitlines() if not line.startswith(("@@", ANY))]
    old, new = ("\n".join(line[1:] for line in lines if not line.startswith(sign)) for sign in "+-")
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


def masked(line: str, command: str) -> str:
    """A line that a command prints, without what may vary and the widths of columns."""
    for of_commands, pattern in MASKS.values():
        if re.search(of_commands, command):
            line = re.sub(pattern, "#", line)
    return " ".join(re.sub(r"([─━])\1+", r"\1", line).split())


def is_printed(shown: Shown) -> bool:
    """Tell if the lines that a page shows are those that are printed, blank ones aside."""
    printed = [masked(line, shown.command) for line in shown.printed if line.strip()]
    parts: list[list[str]] = [[]]
    for line in filter(str.strip, shown.lines):
        if line.strip() == ANY:
            parts.append([])
        else:
            parts[-1].append(masked(line, shown.command))
    if len(parts) == 1:
        return parts[0] in ([], printed)
    first, *others, last = parts
    if printed[: len(first)] != first or printed[len(printed) - len(last) :] != last:
        return False
    begin, end = len(first), len(printed) - len(last)
    for part in others:
        places = range(begin, end - len(part) + 1)
        begin = next((place + len(part) for place in places if printed[place : place + len(part)] == part), end + 1)
    return begin <= end


def renewed(shown: Shown) -> tuple[list[str], list[str]]:
    """The lines to show instead, and those of the old ones that nothing is like.

    A line is replaced by the printed line that it is most like, after that of the line before; where no ``...`` stands
    between two, all that is printed between them is shown. Of a line nothing changes but what no mask names.
    """
    printed = "\n".join(map(str.rstrip, shown.printed)).strip("\n").split("\n")
    there = [masked(line, shown.command) for line in printed]
    result: list[str] = []
    lost: list[str] = []
    after, is_open = 0, False
    for line in filter(str.strip, shown.lines):
        old = masked(line, shown.command)
        alike = [SequenceMatcher(None, old, other, autojunk=False).ratio() for other in there[after:]]
        if line.strip() == ANY:
            is_open = True
        elif not alike or max(alike) < ALIKE:
            lost.append(line)
        else:
            place = after + alike.index(max(alike))
            between = printed[after:place]
            result += ([ANY] if any(between) else []) if is_open else between
            result.append(line if old == there[place] else printed[place])
            after, is_open = place + 1, False
    rest = printed[after:]
    return result + (([ANY] if any(rest) else []) if is_open else rest), lost


def renew(page: str, left_out: str) -> int:
    """Write anew what a page shows; return how many commands print something else."""
    file, changed = page_file(page), 0
    with tempfile.TemporaryDirectory() as folder:
        for shown in carried_out(page, Path(folder), in_shell(Path(folder)), left_out):
            if is_printed(shown):
                continue
            changed += 1
            lines, lost = renewed(shown)
            for line in lost:
                print(f"{page}: nothing printed is like this line of `{shown.command}`: {line}", file=sys.stderr)
            head = f"$ {shown.command}\n"
            old, new = (head + "".join(f"{line}\n" for line in of) for of in (shown.lines, lines))
            file.write_text(file.read_text().replace(old, new, 1))
    return changed


def main(argv: Sequence[str] | None = None) -> int:
    """Write pages anew; return 0."""
    parser = argparse.ArgumentParser(description="Write anew what pages show of the output of their commands.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as tutorials/change-a-reward (default: all)")
    parser.add_argument("--leave-out", default="$^", metavar="REGEX", help="commands that are not run")
    args = parser.parse_args(argv)
    for page in args.pages or (*FAST, *LONG):
        print(f"{page} ...", flush=True)
        print(f"{page}: {renew(page, args.leave_out)} commands show something else now.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
