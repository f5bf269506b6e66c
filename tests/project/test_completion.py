"""``--print-completion`` of all three commands: what bash offers with the script that it prints."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from goodharts.cli.main import main as goodharts
from hackmatrix.cli.main import main as hackmatrix
from rlparity.cli.completion import FLAG
from rlparity.cli.main import main as rlparity
from rlparity.errors import install_command

COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "goodharts": goodharts,
    "hackmatrix": hackmatrix,
    "rlparity": rlparity,
}
OFFERED = """
source "$1" && shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
function=$(complete -p "$1" | sed 's/.* -F \\([^ ]*\\).*/\\1/')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def printed(command: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    """The exit code of a command, its standard output and its standard error."""
    code: object
    try:
        code = command()
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "rlparity",
            {"rlparity led": "ledger", "rlparity run --mode fr": "free-running", "rlparity ledger add --ki": "--kind"},
        ),
        ("hackmatrix", {"hackmatrix watch-": "watch-sb3", "hackmatrix train --pres": "--preset"}),
        ("goodharts", {"goodharts br": "brain-view", "goodharts train --engine j": "jax"}),
    ],
)
def test_commands_flags_and_words_are_completed(
    name: str, lines: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, script, _ = printed(partial(COMMANDS[name], [FLAG, "bash"]), capsys)
    (tmp_path / "script").write_text(script)
    assert code == 0
    for line, whole in lines.items():
        words = ["bash", "-c", OFFERED, "bash", str(tmp_path / "script"), *line.split(" ")]
        bash = subprocess.run(words, capture_output=True, text=True, check=True)
        assert bash.stdout.split() == [whole], line


@pytest.mark.parametrize("name", COMMANDS)
def test_without_shtab_a_sentence_names_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    found = printed(partial(COMMANDS[name], [FLAG, "bash"]), capsys)
    assert found == (2, "", f"{name}: completion needs shtab: run `{install_command('shtab')}`.\n")
    code, _, refusal = printed(partial(COMMANDS[name], [FLAG, "abacus"]), capsys)
    assert (code, refusal.count("\n"), "bash" in refusal) == (2, 1, True)
