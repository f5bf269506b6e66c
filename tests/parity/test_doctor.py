"""``rlparity doctor``: one line for each check, and a code that says whether anything needed is broken."""

import sys
from pathlib import Path

import pytest
from command_line import run

from rlparity.cli import doctor
from rlparity.cli.doctor import BROKEN, NOTE, OK, packages
from rlparity.cli.main import main
from rlparity.errors import install_command

NEEDY = {
    "METADATA": "Metadata-Version: 2.1\nName: needy\nVersion: 1.0\nRequires-Dist: numpy>=99\n"
    'Requires-Dist: rich; extra == "colour"\nRequires-Dist: needy[moon]\n'
    'Requires-Dist: no-such-distribution; extra == "moon"\n',
    "RECORD": "meadow/__init__.py,,\nmeadow/rules.py,,\n",
    "entry_points.txt": "[rlparity.worlds]\nmeadow = no_such_module:WORLD\n",
}


@pytest.fixture
def needy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution is installed that needs others, and whose world cannot be imported."""
    folder = tmp_path / "site" / "needy-1.0.dist-info"
    folder.mkdir(parents=True)
    for name, content in NEEDY.items():
        (folder / name).write_text(content)
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))


def test_where_all_is_well_every_check_has_a_line_and_the_code_is_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = run(main, "doctor")
    assert (ran.code, {line.split()[0] for line in ran.out.splitlines()} - {OK, NOTE}) == (0, set()), ran.out
    for name in ("Python", "packages", "world", "environments", "pytest plugin", "git", "cache"):
        assert f" {name} " in ran.out
    assert list(tmp_path.iterdir()) == []


def test_a_project_is_told_to_require_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert " project " not in run(main, "doctor").out
    assert run(main, "init", tmp_path).code == 0
    monkeypatch.syspath_prepend(tmp_path)
    assert "pyproject.toml declares 2 comparisons\n" in run(main, "doctor").out
    file = tmp_path / "pyproject.toml"
    file.write_text(file.read_text().replace("required_plugins", "testpaths"))
    assert 'declares 2 comparisons; add required_plugins = ["rl-parity"] to [tool.pytest' in run(main, "doctor").out
    file.write_text(file.read_text().replace("games =", "game ="))
    assert "orchard], game: there is no such key" in run(main, "doctor").out


@pytest.mark.usefixtures("needy")
def test_what_is_broken_is_said_in_json_too_and_the_code_is_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run(main, "doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    world, cache = (check for check in ran.json["checks"] if check["status"] == BROKEN)
    assert "world 'meadow' cannot be imported" in world["found"]
    assert "XDG_CACHE_HOME" in cache["remedy"]
    (git,) = (check for check in ran.json["checks"] if check["name"] == "git")
    assert (git["status"], git["remedy"]) == (NOTE, "install it to compare revisions")


@pytest.mark.usefixtures("needy")
def test_packages_that_are_missing_or_outside_their_limits_are_broken() -> None:
    found = packages("needy", (), "needy 1.0", Path("site"), remedy="pip install needy")
    assert (found.status, found.remedy) == (BROKEN, "run `pip install needy`")
    assert found.found.startswith("needy 1.0, in site; ")
    assert "(needed: >=99)" in found.found
    assert "no-such-distribution is missing" in found.found
    assert "rich" not in found.found
    absent = packages("no-such-distribution", (), "it", Path("site"), remedy="pip install it")
    assert (absent.status, absent.found) == (NOTE, "it, in site, run from its folder without being installed")


def test_remedies_are_those_of_a_checkout_or_of_whoever_installed_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remedy() -> str:
        monkeypatch.setattr(doctor, "packages", lambda *_, remedy: remedy)
        checks = iter(doctor._checks())
        next(checks)
        return str(next(checks))

    assert remedy() == install_command("--editable", str(Path(doctor.__file__).parents[2]))
    monkeypatch.setattr(doctor, "__file__", str(tmp_path / "site-packages" / "rlparity" / "cli" / "doctor.py"))
    assert remedy() == install_command("rl-parity") == f"{sys.executable} -m pip install rl-parity"
