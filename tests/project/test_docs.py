"""The pages say what is so: links resolve, commands and flags exist, the worked example is right."""

import re
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jax.numpy as jnp
import pytest
from jax.extend.random import threefry_2x32
from orchard import WORLD

from hackmatrix.cli.main import PROGRAM as HACKMATRIX

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@cache
def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    """``make docs`` checks those of the pages in ``docs``."""
    links = re.findall(r"\]\(([^)]+)\)", page.read_text())
    broken = []
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" not in link and (not target.exists() or (anchor and anchor not in anchors(target))):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path, root: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    code = re.findall(r"`(make [^`]*)`|^(make .*)$", page.read_text(), re.MULTILINE)
    named = {words.split()[1] for words in ("".join(groups) for groups in code)}
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_parity_name_their_world(page: Path) -> None:
    """Several worlds are registered here: a command with flags or with its path, which people copy, must say which."""
    code = re.findall(r"`([^`]*)`|^(.*)$", re.sub(r"\n +", " ", page.read_text()), re.MULTILINE)
    commands = re.findall(
        r"(?:^|[ /])rlparity (?:run|coverage|rewards|record|mutants)\b.*", "\n".join(map("".join, code))
    )
    copied = [command for command in commands if command.startswith("/") or " --" in command.split("  ")[0]]
    assert [command for command in copied if not re.search(r"--world |--engines |--engine swift", command)] == []


def test_the_python_of_the_readme_runs(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On Orchard, and without training, which `tests/rlworldkit/test_api.py` does."""
    code = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)[0]
    train = Mock(return_value="random")
    monkeypatch.setattr("rlworldkit.api.train", train)
    values: dict[str, Any] = {"WORLD": WORLD}
    exec(code.replace('"hackmatrix"', "WORLD"), values)
    train.assert_called_once_with(WORLD, preset="quick")
    assert values["env"].engine == "jax"
    assert "quick" in HACKMATRIX.train_config.presets
    assert re.match(r"{'mean': -\d", capsys.readouterr().out)


def first_two_words(seed: int, event: int, second: int) -> tuple[int, int]:
    outputs = threefry_2x32(jnp.array([seed, 0], jnp.uint32), jnp.array([event, second], jnp.uint32))
    return int(outputs[0]), int(outputs[1])


def test_the_worked_example_of_randomness_is_right(root: Path) -> None:
    page = (root / "docs" / "reference" / "jax-environment.md").read_text()
    corners = [0, 5, 30, 35]
    words = [first_two_words(7, 0, 65536 + cell // 2)[cell % 2] for cell in corners]
    for cell, word in zip(corners, words, strict=True):
        assert re.search(rf"\| {cell} \| \(0, {65536 + cell // 2}\) \| \w+ \| \**{word}\** \|", page)
    assert corners[words.index(min(words))] == 0
    bonus, blocks = first_two_words(7, 0, 2 * 65536)[0], first_two_words(7, 0, 4 * 65536)[0]
    assert f"`({bonus} · 3) >> 32` is {bonus * 3 >> 32}" in page
    assert f"`5 + (({blocks} · 7) >> 32)` is {5 + (blocks * 7 >> 32)}" in page
    for counter in (0, 1):
        low, high = first_two_words(7, 2**32 - 1, counter)
        assert str(low + (high << 32)) in page


@pytest.mark.long
def test_the_examples_of_the_jax_environment_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (root / "docs" / "reference" / "jax-environment.md").read_text()
    printed = []
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, {})
        printed.append(capsys.readouterr().out)
    assert printed == [re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0], ""]


def test_the_documented_files_of_tests_have_all_that_the_real_ones_need(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = pytest.main(["--setup-plan", "--capture=no", "-q", "--rootdir", str(root), str(root / "python" / "tests")])
    plan = capsys.readouterr().out
    assert code == 0, plan
    for test in ("test_reward_parity.py::test_W_rewards[", "test_purejaxrl.py::test_every_action_of_a_rollout_was"):
        assert test in plan


def test_the_documented_sweeps_can_be_searched(root: Path, tmp_path: Path) -> None:
    from rlworldkit.sweep.space import read_sweep  # with Optuna, which the other tests here do not need

    page = (root / "docs" / "how-to" / "training.md").read_text()
    (text,) = (text for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "core_hours" in text)
    (tmp_path / "sweep.toml").write_text(text)
    assert set(read_sweep(HACKMATRIX, tmp_path / "sweep.toml", {}).space) == {
        *("learning_rate", "num_minibatches", "prices.damage_penalty")
    }
    assert read_sweep(HACKMATRIX, root / "examples" / "sweep.toml", {}).held["total_timesteps"] == 2_000_000
