"""The pytest plugin: tests of ``[tool.rlparity]``, as whoever types ``pytest`` in a project sees them."""

import contextlib
import os
import re
import subprocess
import sys
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

import faulty_orchard
import pytest
from command_line import ORCHARD, orchard, run

from rlparity import UsageError
from rlparity.cli.main import main
from rlparity.core.trace import read_trace
from rlparity.testing import assert_lockstep
from rlparity.tools.project import read_checks, read_tables

TESTS = Path(__file__).parent
OTHER_PLUGINS = [
    f"-pno:{each.name}" for each in entry_points(group="pytest11") if each.name not in ("rlparity", "xdist")
]
"""Flags that leave out what takes longer to load than the tests here."""
BOTH = 'engines = ["plain,planes", "plain,restless"]'
OWN_TEST = """
import pytest

def test_a_pair(rlparity_pair):
    pair = rlparity_pair("faulty_orchard:WORLD", ("plain", "planes"), 3)
    assert (pair.games, pair.names) == (3, ("plain", "planes"))
"""


class Project:
    """A project of Orchard in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, text: str, name: str = "orchard") -> None:
        """Configure pytest and one world, with these further lines."""
        world = f'[tool.rlparity.worlds.{name}]\nworld = "{ORCHARD}"\ngames = 8\nsteps = 60\n'
        (self.folder / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{world}{text}\n")

    def pytest(self, *words: str) -> tuple[int, str]:
        """Run pytest in the folder, in this process; exit code, and standard output and standard error together."""
        options = "-p", "no:cacheprovider", "--capture=no", "--import-mode=importlib"
        with contextlib.chdir(self.folder):
            ran = run(pytest.main, *options, *words)
        return int(ran.code or 0), ran.out + ran.err

    def pytest_alone(self, *words: str) -> tuple[int, str]:
        """The same in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *OTHER_PLUGINS, *words],
            cwd=self.folder,
            # without bytecode: Python takes a module that changes within a second, and not in size, for the same
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_own.py").write_text(OWN_TEST)
    return Project(folder)


def test_tests_are_named_after_world_engines_and_source_and_can_be_chosen(project: Project) -> None:
    project.table(f'{BOTH}\nsources = ["uniform", "directed"]')
    listing = "--collect-only", "-q"
    ids = [
        f"rlparity::orchard::{pair}::{source}"
        for pair in ("plain-planes", "plain-restless")
        for source in ("uniform", "directed", "golden")
    ]
    own = "test_own.py::test_a_pair"
    chosen: dict[tuple[str, ...], set[str]] = {
        (): {own, *ids},
        ("-m", "not rlparity", "--strict-markers"): {own},
        ("-k", "restless and directed"): {ids[4]},
        ("rlparity::orchard::plain-planes", own): {own, *ids[:3]},
        (ids[5],): {ids[5]},
    }
    for words, expected in chosen.items():
        _, said = project.pytest(*listing, *words)
        assert {line for line in said.splitlines() if "::" in line} == expected, words
    code, said = project.pytest("rlparity::orchard::plain")
    assert (code, "not found: " in said) == (4, True)


def test_a_divergence_is_shown_shrunk_with_its_page_and_repeats_from_its_seed(project: Project) -> None:
    project.table(BOTH)
    code, said = project.pytest("-v")
    assert code == 1
    assert re.search(r"test_own.py::test_a_pair PASSED", said)
    assert re.search(r"rlparity::orchard::plain-planes::directed PASSED", said)
    assert re.search(r"rlparity::orchard::plain-planes::golden PASSED", said)
    report = said[
        said.index("_ rlparity::orchard::plain-restless::directed _") : said.index(
            "_ rlparity::orchard::plain-restless::golden _"
        )
    ]
    for words in ("differ after 1 action: rest (5).", "│ state.hp ", "Rules in play: O-REST", "Replay with: "):
        assert words in report
    assert not re.search(r"Traceback|\.py:\d+", report)
    page = "rlparity-report/orchard-plain-restless-directed.html"
    assert f"Page: {page}" in report
    assert (project.folder / page).exists()
    trace = read_trace((project.folder / page).with_suffix(".json"))
    assert trace.case.actions == (5,)

    (seed,) = set(re.findall(r"--rlparity-seed (\d+)", said))
    assert f"rlparity: seed {seed} " in said
    (played,) = re.findall(r"^Seed: (\d+)\.$", report, re.MULTILINE)
    (words,) = re.findall(r"^Again: pytest (.*)$", report, re.MULTILINE)
    code, again = project.pytest(*words.split())
    assert (code, f"Seed: {played}." in again) == (1, True)
    assert read_trace((project.folder / page).with_suffix(".json")) == trace
    code, other = project.pytest(words.split()[0])
    assert (code, f"Seed: {played}." in other) == (1, False)


@pytest.mark.long
def test_workers_of_xdist_share_a_seed_and_the_pairs_of_engines(project: Project) -> None:
    project.table('engines = ["plain,planes", "planes,plain", "plain,restless"]\ngolden = ""')
    code, said = project.pytest_alone("-n", "2", "--dist", "loadscope", "-v", "-m", "rlparity")
    assert code == 1
    seeds = set(re.findall(r"seed (\d+)", said))
    assert len(seeds) == 1
    assert len(re.findall(r"PASSED rlparity::orchard", said)) == 2
    assert {worker for worker, _ in re.findall(r"\[(gw\d)\] .*(PASSED|FAILED) rlparity", said)} == {"gw0", "gw1"}
    (played,) = set(re.findall(r"^Seed: (\d+)\.$", said, re.MULTILINE))
    _, again = project.pytest("rlparity::orchard::plain-restless", "--rlparity-seed", seeds.pop())
    assert f"Seed: {played}." in again


def read_all(path: Path) -> None:
    assert read_checks(read_tables(path) or {})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("game = 3", "orchard], game: there is no such key: choose among world, engines, "),
        ("auto-reset = 1", "orchard], auto-reset: it must be true or false, got 1."),
        ("steps = 0", "orchard], steps: it must be a whole number from 1 to 2,147,483,647, got 0."),
        ("engines = [1]", "orchard], engines: it must be a list of texts, got "),
        ("coverage = 1.5", "orchard], coverage: it must be a number from 0 to 1, got 1.5."),
        ('engines = ["plain"]', "orchard], engines: 'plain' does not name two engines as a,b"),
        ('engines = ["plain,swift"]', "orchard], engines: world 'orchard' has no engine 'swift': choose among plain"),
        ('optional = ["swift"]', "orchard], optional: world 'orchard' has no engine 'swift'"),
        ('sources = ["magic"]', "orchard], sources: there is no source 'magic': give uniform, directed"),
        ("[tool.rlparity.worlds.pig]", "pig], world: there is no world 'pig': give module:attribute, or one that is "),
        ("[tool.rlparity]\nseed = 3", "[tool.rlparity] in "),
        ('golden = ""\nsources = []', "orchard], sources: nothing is compared: name a source"),
        ('world = "faulty_orchard:CHANGED"\nengines = ["a-b,c", "a,b-c"]', "engines: a,b-c and a-b,c are both 'a-b-c'"),
    ],
)
def test_a_wrong_table_is_one_sentence_that_names_the_key(project: Project, text: str, sentence: str) -> None:
    engines = dict.fromkeys(("a-b", "c", "a", "b-c"), faulty_orchard.WORLD.engines["plain"])
    orchard(engines=engines)
    project.table(text)
    path = project.folder / "pyproject.toml"
    text = path.read_text().replace("steps = 60\nsteps", "steps")
    path.write_text(text.replace(f'world = "{ORCHARD}"\n', "") if "CHANGED" in text else text)
    with pytest.raises(UsageError) as error:
        read_all(path)
    assert str(error.value).startswith("[tool.rlparity")
    assert sentence in str(error.value)


def rival(folder: Path) -> Path:
    """A folder with a distribution whose plugin of pytest has the same name, and hides ours."""
    info = folder / "rival-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nrlparity = rival_plugin\n")
    (folder / "rival_plugin.py").touch()
    return folder


@pytest.mark.parametrize(
    "hidden",
    [
        "-p no:rlparity",
        pytest.param("PYTEST_ADDOPTS=-p no:rlparity", marks=pytest.mark.long),
        pytest.param("PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", marks=pytest.mark.long),
        "rival",
    ],
)
def test_a_project_that_requires_the_plugin_never_passes_without_it(
    hidden: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(main, "init", tmp_path / "new").code == 0
    project = Project(tmp_path / "new")
    (project.folder / "test_own.py").write_text("def test_own():\n    pass\n")
    if hidden == "rival":
        monkeypatch.syspath_prepend(rival(tmp_path / "site"))
    elif "=" in hidden:
        monkeypatch.setenv(*hidden.split("="))
    code, said = project.pytest_alone(*(hidden.split() if hidden.startswith("-") else ()))
    assert (code, said.strip()) == (4, "ERROR: Missing required plugins: rl-parity")
    assert hidden.startswith("-") or "broken  pytest plugin" in run(main, "doctor").out


def test_what_the_table_declares_is_collected_or_the_run_fails(project: Project, tmp_path: Path) -> None:
    project.table('engines = ["plain,planes"]')
    listing = "--collect-only", "-q"
    code, said = project.pytest(*listing, "--ignore=pyproject.toml")
    sentence = (
        "rlparity::orchard::plain-planes::directed, which [tool.rlparity] declares, was not collected: do not ignore"
    )
    assert (code, sentence in said) == (4, True)
    for words, note in (  # somebody's choice
        (("-m", "not rlparity"), 'add required_plugins = ["rl-parity"]'),
        (("-k", "own"), 'add required_plugins = ["rl-parity"]'),
        (("test_own.py",), "not among what is tested here"),
    ):
        code, said = project.pytest("--collect-only", *words)
        assert (code, note in said) == (0, True)

    path = project.folder / "pyproject.toml"
    path.write_text(path.read_text().replace("[tool.pytest.ini_options]\n", ""))
    (project.folder.parent / "pytest.ini").write_text("[pytest]\n")
    code, said = project.pytest(*listing)
    assert (code, f"pytest's root folder is {project.folder.parent}, and [tool.rlparity] is in " in said) == (4, True)
    path.write_text("[tool.pytest.ini_options]\n[tool.rlparity.worlds]\n")
    code, said = project.pytest(*listing)
    assert (code, "must hold tables [tool.rlparity.worlds.NAME] and nothing else" in said) == (4, True)


def test_an_engine_that_does_not_start_fails_its_test_unless_it_is_optional(project: Project) -> None:
    (project.folder / "broken.py").write_text(
        "from dataclasses import replace\n"
        "from rlparity import EngineError\n"
        "from faulty_orchard import WORLD\n"
        "def fail(games, options=None):\n"
        "    raise EngineError('it is not built: build it.')\n"
        "WORLD = replace(WORLD, engines={**WORLD.engines, 'broken': fail})\n"
    )
    project.table('world = "broken:WORLD"\nengines = ["plain,broken", "plain,planes"]\ngolden = ""')
    path = project.folder / "pyproject.toml"
    path.write_text(path.read_text().replace(f'world = "{ORCHARD}"\n', ""))
    code, said = project.pytest("-rs")
    assert (code, "engine 'broken' failed in start: it is not built: build it." in said) == (1, True)
    assert "Traceback" not in said
    path.write_text(path.read_text() + 'optional = ["broken"]\n')
    code, said = project.pytest("-rs")
    assert (code, "2 passed, 1 skipped" in said) == (0, True)
    assert "engine 'broken' failed in start: it is not built: build it." in said
    sys.modules["broken"].EngineError = None  # type: ignore[attr-defined]
    assert project.pytest()[0] == 1  # it is there, and has a fault


def test_a_floor_of_coverage_fails_on_rules_that_were_not_hit() -> None:
    assert_lockstep(ORCHARD, ("plain", "planes"), steps=60, games=16, seed=0, coverage=1)
    few = partial(assert_lockstep, ORCHARD, games=2, steps=1, seed=0)
    pattern = r"^plain and planes: 3 of 9 rules hit, never hit: (O-\w+, )+O-NEXT\. Seed: 0\.$"
    with pytest.raises(AssertionError, match=pattern) as caught:
        few(coverage=0.5)
    few(coverage=0.3)
    missing = str(caught.value).partition("never hit: ")[2].partition(".")[0].split(", ")
    few(coverage=[*missing, "start.empty"])
    with pytest.raises(AssertionError, match=rf"never hit: {missing[0]}, start\.empty\."):
        few(coverage=missing[1:])
    miscounted = partial(assert_lockstep, ORCHARD, ("plain", "miscounting"), steps=20, seed=0)
    with pytest.raises(AssertionError, match=r"marks\[sting\]"):
        miscounted(coverage=0)
    miscounted()


def test_a_budget_ends_a_run_and_says_what_it_compared(project: Project) -> None:
    project.table('engines = ["plain,planes"]\nbudget-seconds = 0.01\ngolden = ""\ngames = 64\nsteps = 100000')
    path = project.folder / "pyproject.toml"
    path.write_text(path.read_text().replace("games = 8\nsteps = 60\n", ""))
    code, said = project.pytest("-m", "rlparity", "-rP")
    assert code == 1
    (steps,) = re.findall(r"^INCONCLUSIVE: too few steps are compared: ([\d,]+) of 6,400,000: ", said, re.MULTILINE)
    assert 64 <= int(steps.replace(",", "")) < 640_000


@pytest.mark.parametrize(("more", "code"), [("", 1), ("\nstrict = false", 0)])
def test_a_limited_comparison_fails_unless_the_table_says_otherwise(more: str, code: int, project: Project) -> None:
    project.table(f'engines = ["plain,plain"]\ngolden = ""{more}')
    ended, said = project.pytest("-m", "rlparity", "-rP")
    assert (ended, "LIMITED: " in said) == (code, True)


def test_init_writes_a_project_whose_test_passes_and_notices_a_fault(tmp_path: Path) -> None:
    project = Project(tmp_path / "new")
    assert run(main, "init", project.folder).code == 0
    assert (project.folder / ".github" / "workflows" / "rlparity.yml").exists()
    code, said = project.pytest_alone("-v")
    assert (code, "rlparity::orchard::plain-planes::directed PASSED" in said) == (0, True)
    world = project.folder / "orchard" / "planes.py"
    text = world.read_text()
    world.write_text(text.replace("np.minimum(3, self.hp + 1)", "np.minimum(2, self.hp + 1)"))
    assert world.read_text() != text
    code, said = project.pytest_alone()
    assert (code, "plain and planes differ after " in said) == (1, True)

    (project.folder / "pyproject.toml").unlink()
    refused = run(main, "init", project.folder).refusal()
    assert refused.endswith("is there already, and nothing was written: name another folder.\n")
    assert not (project.folder / "pyproject.toml").exists()
