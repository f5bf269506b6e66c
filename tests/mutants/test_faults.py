"""The table of faults fits the code: every edit can be made, and every test that it names is there."""

import ast
import re
from pathlib import Path

import pytest

from .plant import BROKEN, CAUGHT, ROOT, SURVIVED, Fault, Verdict, judge, read_faults, report

FAULTS = read_faults()


def test_there_are_enough_of_them_each_under_a_name_of_its_own() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 100


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    planted = fault.planted(text)
    assert planted != text
    assert not fault.file.endswith(".py") or ast.dump(ast.parse(planted)) != ast.dump(ast.parse(text))
    for test in fault.tests:
        path, *names = test.split("::")
        assert (ROOT / path).exists(), test
        tests = (ROOT / path).read_text(encoding="utf-8")
        assert not names or re.search(rf"\b(def|class) {names[-1].split('[')[0]}\b", tests), test


def test_a_verdict_is_that_of_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading them takes longer than the tests here
    (tmp_path / "code.py").write_text("LEAST = 3\n")
    (tmp_path / "test_code.py").write_text(
        "import pathlib\n\n\ndef test() -> None:\n    values = {}\n"
        "    exec(pathlib.Path(__file__).with_name('code.py').read_text(), values)\n    assert values['LEAST'] == 3\n"
    )

    def verdict(new: str, test: str = "test_code.py") -> Verdict:
        return judge(Fault("one", "code.py", "LEAST = 3", new, (test,)), tmp_path)

    assert verdict("LEAST = 4").result == CAUGHT
    assert verdict("LEAST = 1 + 2").result == SURVIVED
    assert verdict("LEAST =").result == BROKEN
    assert verdict("LEAST = 4", "test_that_is_not_there.py").result == BROKEN
    (tmp_path / "test_fails.py").write_text("def test() -> None:\n    raise AssertionError\n")
    assert verdict("LEAST = 4", "test_fails.py").result == BROKEN
    assert (tmp_path / "code.py").read_text() == "LEAST = 3\n"


def test_a_fault_that_does_not_load_is_not_counted_as_caught(capsys: pytest.CaptureFixture[str]) -> None:
    fault = Fault("one", "code.py", "a", "b", ())
    assert report([Verdict(fault, CAUGHT), Verdict(fault, BROKEN)]) == 1
    assert "1 of 1 faults caught (100%)." in capsys.readouterr().out
