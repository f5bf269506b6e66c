"""``--print-completion`` of all three commands: what bash offers with the script that it prints."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import run

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
def test_commands_flags_and_words_are_completed(name: str, lines: dict[str, str], tmp_path: Path) -> None:
    ran = run(COMMANDS[name], FLAG, "bash")
    (tmp_path / "script").write_text(ran.out)
    assert ran.code == 0
    for line, whole in lines.items():
        words = ["bash", "-c", OFFERED, "bash", str(tmp_path / "script"), *line.split(" ")]
        bash = subprocess.run(words, capture_output=True, text=True, check=True)
        assert bash.stdout.split() == [whole], line


@pytest.mark.parametrize("name", COMMANDS)
def test_without_shtab_a_sentence_names_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    said = f"{name}: completion needs shtab: run `{install_command('shtab')}`.\n"
    assert run(COMMANDS[name], FLAG, "bash") == (2, "", said)
    assert "bash" in run(COMMANDS[name], FLAG, "abacus").refusal()
