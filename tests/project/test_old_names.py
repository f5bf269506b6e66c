"""The name that a package had before is the same package."""

import importlib
import sys

import pytest


def test_worldkit_is_rlworldkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for name in [name for name in sys.modules if name.partition(".")[0] == "worldkit"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.warns(DeprecationWarning, match="import that"):
        old = importlib.import_module("worldkit")
    assert old is importlib.import_module("rlworldkit")
    assert importlib.import_module("worldkit.envs.spec") is importlib.import_module("rlworldkit.envs.spec")
    for name in [name for name in sys.modules if name.partition(".")[0] == "worldkit"]:
        monkeypatch.delitem(sys.modules, name)
