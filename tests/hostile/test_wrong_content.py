"""Files of a right form that say something wrong: one sentence names what it is."""

import base64
import io
import json
import os
import pickle
import re
import tracemalloc
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from orchard import WORLD as ORCHARD

from rlparity.errors import ParityError, UsageError
from rlworldkit.ppo.checkpoint_format import DEVIATION
from rlworldkit.ppo.checkpoints import Log, LoopState, read_checkpoint, save_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.runs.sinks import CsvLog, JsonLinesLog, read_csv
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.model_file import PLAIN
from rlworldkit.sb3.models import load_model
from rlworldkit.settings import saved_settings
from tests.rlworldkit.ppo.sealing import sealed

from .kinds import DONE, ENV, EVALUATIONS, KINDS, OPTIMIZER, POLICY, Tree, fresh, good, model_tree
from .mutations import is_one_line

ONE = np.zeros(1, np.float32)
LEAF = ".train_state.params['params']['value']['bias']"
HIDDEN = "params/hidden_0/kernel"
HEADING = b"update,train/entropy\n"
FRAME, ENTRY = b"\x80\x04", b"\x8c\x01a"
ACTIONS = ENV.num_actions
BIAS = (POLICY, "action_net.bias")
MOMENT = (OPTIMIZER, "state", 3)


class Harmful:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path = Path("executed")) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def changed(tree: Tree, place: tuple[Any, ...], value: object) -> Tree:
    """The tree with another value at a place; ``...`` for a value removes what is there."""
    if not place:
        return value
    name, *rest = place
    copied: Any = tree.copy()
    if rest:
        copied[name] = changed(copied[name], tuple(rest), value)
    elif value is ...:
        del copied[name]
    else:
        copied[name] = value
    return copied


WRONG_VALUES: dict[str, list[tuple[Any, Any, str]]] = {
    "config.json": [
        ((), [], "no object of settings"),
        ("wandb_id", 3, "its wandb_id is no text"),
        ("num_envs", 0, "keeps 0 as num_envs, which must be a whole number from 1 to"),
        ("num_envs", "8\n", r"keeps '8\n' as num_envs, which must be a whole number"),
        ("num_envs", True, "keeps True as num_envs, which must be a whole number"),
        ("num_envs", 1.5, "keeps 1.5 as num_envs, which must be a whole number"),
        ("learning_rate", float("nan"), "keeps nan as learning_rate, which must be a number"),
        ("timesteps", 10**400, "type int as timesteps, which must be a whole number"),
        ("timesteps", [], "keeps a value of type list as timesteps"),
    ],
    "group.json": [((), [], "it describes no group"), ("seeds", 0, "its seeds must be a whole number from 1")],
    "evaluations.npz": [
        (place, value, "its arrays are no evaluations: move it away to go on without it")
        for place, value in (
            ("timesteps", ...),
            ("timesteps", np.array([10])),
            ("timesteps", np.array(["a", "b"])),
            ("results", np.array([1.0, 2.0])),
            ("results", np.array([[np.nan, 2.0], [3.0, 4.0]])),
            ("ep_lengths", np.array([[1], [2]])),
            ((), dict.fromkeys(EVALUATIONS, np.zeros(0))),
        )
    ],
    "checkpoint_20.pkl": [
        *((name, ..., f"it lacks '{name}'") for name in ("runner", "progress", "config", "rules_version", "metrics")),
        *((name, ..., f"it lacks '{name}'") for name in ("logged", "unlogged")),
        ("runner", [], "runner is no object of arrays"),
        ("runner", {}, "does not fit"),
        (("runner", LEAF), np.array(["text"]), "runner is no object of arrays"),
        (("runner", LEAF), np.array([np.nan], np.float32), "contains NaN or infinity"),
        (("runner", DEVIATION), np.array(-1, np.float32), "the scale of its values is not above 0"),
        (("runner", LEAF), ..., "is of another network"),
        (("runner", LEAF), np.zeros((1, 1), np.float32), "is of another network"),
        (("runner", ".train_state.more"), ONE, "is of another network"),
        (("progress", "updates"), ..., "progress must be made of"),
        (("progress", "updates"), -1, "the updates of its progress are -1"),
        (("progress", "timesteps"), 2**63, "the timesteps of its progress are 92233"),
        (("progress", "seconds"), float("nan"), "the seconds of its progress are nan"),
        ("config", ["num_envs"], "config is no object"),
        (("config", "num_envs"), 0, "keeps 0 as num_envs, which must be a whole number from 1 to"),
        (("config", "num_envs"), 10**12, "its num_envs is 1000000000000, which does not fit its arrays"),
        (("config", "num_layers"), 10**9, "its num_layers is 1000000000, which"),
        ("rules_version", 1, "its rules_version is 1"),
        ("rules_version", "0\n", r"its rules_version is '0\n'"),
        ("metrics", {"loss": "low"}, "metrics are no object of numbers"),
        (("logged", "updates"), 21, "log is ahead of its progress"),
        ("logged", None, "log must be made of"),
        ("unlogged", {}, "unlogged updates are no list"),
        ("unlogged", [], "holds other metrics than this world's, or lacks some since"),
        (("unlogged", 0), {"loss": {}}, "an unlogged update is not made of"),
        (("unlogged", 0, "loss", "entropy"), ..., "an unlogged update is not made of"),
        (("unlogged", 0, "rollout", "episodes"), np.zeros(2), "holds other metrics"),
        (("unlogged", 0, "rollout", "component_sums"), np.zeros((1, 4)), "holds other metrics"),
        (("unlogged", 0, "rollout", "maxima"), {"most": ONE, "least": ONE}, "holds other metrics"),
    ],
    "params_20.npz": [
        (HIDDEN, ..., "not those of an ActorCritic"),
        ("params/value/kernel", ..., "a network for other observations"),
        (HIDDEN, np.zeros((7, 32), np.float32), "a network for other observations"),
        (HIDDEN, np.zeros(3, np.float32), "not those of an ActorCritic"),
        ("params/policy/bias", np.zeros(3, np.float32), "a network for other observations"),
        ("params/policy/bias", np.full(ACTIONS, np.nan, np.float32), "not made of numbers"),
        (HIDDEN, np.zeros((2, 2), np.int32), f"'{HIDDEN}' is not made of numbers"),
        (HIDDEN, np.array([object()]), f"its part '{HIDDEN}.npy' is no array of numbers"),
        ("params", np.zeros(1), "'params' is an array and holds others"),
        ("two\nlines", np.array("x"), r"'two\nlines' is not made of numbers"),
    ],
    "model.zip": [
        (PLAIN, [], "its worldkit.json is no object"),
        ((PLAIN, "version"), 2, "of version 2, and 1 is read"),
        ((PLAIN, "settings"), [], "its settings must be "),
        ((PLAIN, "settings", "more"), 1, "its settings must be "),
        ((PLAIN, "settings", "n_steps"), 0, "keeps 0 as n_steps, which must be a whole number from 1 to"),
        ((PLAIN, "settings", "normalize_advantage"), 1, "which must be true or false"),
        ((PLAIN, "num_timesteps"), -1, "its num_timesteps is -1"),
        ((PLAIN, "updates"), 1.5, "its updates is 1.5"),
        ((PLAIN, "episodes"), [{"r": "much"}], "its episodes are no list"),
        (POLICY, ..., "it lacks policy.pth"),
        (OPTIMIZER, ..., "it lacks policy.optimizer.pth"),
        (POLICY, [1], "its parameters are not those of MaskablePPO's policy"),
        (POLICY, Harmful(), "its policy.pth is damaged, or holds more than tensors"),
        (OPTIMIZER, pickle.dumps(Harmful()), "no zip"),
        (BIAS, ..., "its parameters are not those"),
        (BIAS, "text", f"its action_net.bias is not made of {ACTIONS} numbers"),
        (BIAS, torch.zeros(3), f"its action_net.bias is not made of {ACTIONS} numbers"),
        (BIAS, torch.zeros(ACTIONS).double(), f"is not made of {ACTIONS} numbers"),
        (BIAS, torch.full((ACTIONS,), torch.nan), f"is not made of {ACTIONS} numbers"),
        (BIAS, torch.zeros(1).expand(10**9), f"is not made of {ACTIONS} numbers"),
        (OPTIMIZER, [1], "its optimizer is of another policy"),
        (MOMENT, ..., "of another policy"),
        ((*MOMENT, "step"), ..., "is no Adam"),
        ((*MOMENT, "exp_avg"), torch.ones(2), "its optimizer is of another policy"),
    ],
    "ppo_proxy.pth": [
        ("format", 2, "it is of format 2, not 1"),
        ((), [1, 2], "goodharts did not write it"),
        ("mode", Harmful(), "it holds more than plain values and tensors"),
        ("mode", "greed", "its mode is 'greed', none of ground_truth,"),
        ("update", -1, "its update is -1, not a count"),
        ("config", [1], "it does not say which settings it was trained with"),
        ("weights", {}, "its weights are those of another network"),
        ("weights", [1], "its weights are those of another network"),
        (("weights", "policy.weight"), "many", "its weights are those of another network"),
        (("weights", "policy.weight"), torch.zeros(1).expand(8, 10**9), "its weights are those of another network"),
        (("weights", "policy.weight"), torch.zeros(8, 0), "its weights are those of another network"),
        (("weights", "policy.weight"), torch.zeros(8, 8192), "is of shape"),
        (("weights", "joined.0.weight"), ..., "its weights are those of another network"),
        (("weights", "body.conv1.weight"), torch.zeros(32, 2, 3, 3), "its weights are those of another network"),
        (("weights", "policy.bias"), torch.zeros(9), "its policy.bias is of shape (9,), not (8,)"),
        (("weights", "policy.bias"), torch.zeros(8).double(), "its policy.bias is no tensor of torch.float32"),
        (("weights", "policy.bias"), torch.full((8,), torch.nan), "its policy.bias contains NaN or infinity"),
    ],
    "results.json": [
        ("format", 2, "it holds no evaluations of format 1"),
        *(
            (place, value, "an evaluation in it is damaged")
            for place, value in (
                ("evaluations", None),
                (("evaluations", 0, "player"), ["me"]),
                (("evaluations", 0, "settings", "games"), "2"),
                (("evaluations", 0, "figures", "survival", "low"), "3"),
            )
        ),
    ],
}
WRONG_BYTES: dict[str, list[tuple[bytes, str]]] = {
    "config.json": [(b"{", "no JSON")],
    "metrics.csv": [
        (b"\xff\n", "no UTF-8 text"),
        (b"other,train/entropy\n1,2\n", "has no column 'update'"),
        (HEADING + b'1,"a\nb"\n', r"cannot be read as a file of metrics: 'a\nb' is no number"),
        (HEADING + b"1," + b"9" * 200_000 + b"\n", "field larger than field limit"),
    ],
    "metrics.jsonl": [(b"\xff", "no UTF-8 text")],
    "checkpoint_20.pkl": [
        (b"cos\nsystem\n(S'true'\ntR.", "needs pickle's operation GLOBAL"),
        (FRAME + b"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", "needs pickle's operation STACK_GLOBAL"),
        (b"", "it is damaged"),
        (b"hello", "cannot be read as a checkpoint: "),
        (FRAME + b"a.", "it is damaged"),
        (FRAME + b"}K\1K\1s.", "a name in it is no text"),
        (FRAME + b"]" * 20_000 + b"a" * 19_999 + b".", "nested too deeply"),
        (FRAME + b"}" + (ENTRY + b"}") * 10_000 + b"s" * 10_000 + b".", "nested too deeply"),
        (FRAME + b"\x8e" + (2**60).to_bytes(8, "little") + b"x.", "it is damaged"),
        (FRAME + b"K\1r\xff\xff\xff\x7f.", "pickle's operation LONG_BINPUT"),
        (FRAME + b"j\xff\xff\xff\x7f.", "it is damaged"),
        (FRAME + b"]\x94(" + b"h\0" * 9 + b"e.", "one object in several places"),
        (FRAME + b"\x96" + (2**40).to_bytes(8, "little") + b".", "it is damaged"),
        (b"\x80\x02\x82\x01.", "operation EXT1"),
        (FRAME + b"K\1Q.", "operation BINPERSID"),
        (pickle.dumps([1, 2]), "something else than a run of orchard"),
        (pickle.dumps({"format": "orchard checkpoint", "version": "\n"}), r"version '\n'"),
        (pickle.dumps({"format": "orchard checkpoint", "version": 1}), "checksum is wrong"),
        (re.sub(rb"[0-9a-f]{64}", b"0" * 64, sealed([])), "checksum is wrong"),
        (sealed([]), "it lacks 'progress'"),
        (sealed(pickle.dumps({"runner": {"x": {"__array__": "|O", "shape": [1], "data": b"x" * 8}}})), "holds objects"),
        (sealed(pickle.dumps({"x": {"__array__": "<f4", "shape": [10**12], "data": b"x"}})), "it is damaged"),
        (sealed(pickle.dumps({"x": {"__array__": "<f4", "shape": "wide", "data": b"xxxx"}})), "it is damaged"),
    ],
}
TOML = [name for name in KINDS if name.endswith(".toml")]
TOML_VALUES = ["9" * 5000, "0x" + "f" * 5000, "[" * 5000, "", "nan", "2024-01-01", "'\xe9", "1\n" * 2**20]


def rows(tables: Mapping[str, Iterable[tuple[Any, ...]]]) -> list[Any]:
    """The rows of all kinds of file, under the kind and their number."""
    numbered = ((name, number, row) for name, table in tables.items() for number, row in enumerate(table))
    return [pytest.param(name, *row, id=f"{name}-{number}") for name, number, row in numbered]


def refused(path: Path) -> str:
    """The line with which a reader refuses a file, and that it takes no memory for what the file claims."""
    tracemalloc.start()
    try:
        with pytest.raises(ParityError) as caught:
            KINDS[path.name].read(path)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()
    assert is_one_line(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "place", "value", "sentence"),
    rows(WRONG_VALUES),
)
def test_a_wrong_value_is_one_sentence(
    name: str,
    place: Any,  # noqa: ANN401 - a name, or several
    value: object,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    kind, path = KINDS[name], tmp_path / name
    path.write_bytes(kind.content(changed(kind.tree(), place if isinstance(place, tuple) else (place,), value)))
    assert sentence in refused(path)
    assert list(tmp_path.iterdir()) == [path], "nothing was executed"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    rows(WRONG_BYTES),
)
def test_wrong_bytes_are_one_sentence(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert sentence in refused(tmp_path / name)


@pytest.mark.parametrize("value", TOML_VALUES, ids=lambda value: value[:9])
@pytest.mark.parametrize("name", TOML)
def test_a_wrong_value_in_any_toml_file_is_one_short_sentence_that_names_it(
    name: str, value: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(KINDS[name].content(value))
    said = refused(tmp_path / name)
    assert len(said) < 1200
    assert any(each in said for each in (name, "tool.rlparity", "the price kills"))


@pytest.mark.parametrize("name", TOML)
def test_a_byte_order_mark_changes_nothing(name: str, tmp_path: Path) -> None:
    content = KINDS[name].content(KINDS[name].tree())
    answers: list[str | None] = []
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / name).write_bytes(mark + content)
        answers.append(re.sub("0x[0-9a-f]+", "", str(KINDS[name].read(tmp_path / name))))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "line",
    [b"1,2,3", b"1", b"", b"11,2", b"\0\0"],
    ids=["one that another ran into", "one that was cut off", "an empty one", "late", "zeros"],
)
def test_rows_that_are_no_longer_whole_or_come_again_are_left_out(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(HEADING + b"1,2\n" + line + b"\n2,\n")
    CsvLog(path, after=10).write({"update": 11})
    assert [row["update"] for row in read_csv(path)] == [1, 2, 11]


@pytest.mark.parametrize(
    "line", ["{", "\0\0", "[1]", '{"a": 3}', '{"update": 1e400}', '{"update": ' + "9" * 400 + "}", "[" * 20_000]
)
def test_lines_that_say_no_step_are_left_out(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(f'{{"update": 1}}\n{line}\n')
    JsonLinesLog(path, after=10).write({"update": 11})
    assert path.read_text() == '{"update": 1}\n{"update": 11}\n'


def test_a_checkpoint_that_could_not_be_read_again_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rlworldkit.ppo.checkpoints.LIMIT", 0)
    with pytest.raises(ParityError, match="would be larger than 0 GiB, the most that is read of a checkpoint"):
        save_checkpoint(tmp_path / "checkpoint_1.pkl", LoopState(fresh(), DONE, Log(DONE)), {}, ENV)
    assert not list(tmp_path.iterdir())


def test_settings_of_a_model_in_pickles_are_read_with_trust_alone(tmp_path: Path) -> None:
    """As Stable-Baselines3 keeps them, one of them harmful."""
    trap, tree = tmp_path / "executed", model_tree()
    packed = base64.b64encode(pickle.dumps(Harmful(trap))).decode()
    crafted = json.loads(tree["data"]) | {"policy_class": {":type:": "", ":serialized:": packed}}
    path = tmp_path / "model.zip"
    path.write_bytes(KINDS["model.zip"].content(tree | {"data": json.dumps(crafted).encode()}))
    load_model(path, ORCHARD, "cpu")
    theirs = changed(tree, (PLAIN,), ...) | {"data": json.dumps(crafted).encode()}
    path.write_bytes(KINDS["model.zip"].content(theirs))
    assert "its settings are pickled, and unpickling can run arbitrary code: add --trust if you" in refused(path)
    assert not trap.exists()
    with pytest.raises(UsageError):
        load_model(path, ORCHARD, "cpu", trust=True)
    assert trap.exists(), "the trap is one"


def test_a_file_that_unpacks_to_more_than_it_seems_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodharts.models.LIMIT", 2**20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(2**21))
    (tmp_path / "ppo_proxy.pth").write_bytes(packed.getvalue())
    assert "unpacked it is larger than 1 MiB" in refused(tmp_path / "ppo_proxy.pth")
    monkeypatch.setattr("rlworldkit.sb3.models._MOST_NUMBERS", 100)
    (tmp_path / "model.zip").write_bytes(good("model.zip"))
    assert "which takes too much memory" in refused(tmp_path / "model.zip")


def test_a_good_checkpoint_has_its_log(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint_20.pkl"
    path.write_bytes(KINDS[path.name].content(KINDS[path.name].tree()))
    assert read_checkpoint(path, ENV).log.at.updates == 18


def test_the_settings_of_both_trainers_come_back_as_they_were_written(tmp_path: Path) -> None:
    written = json.loads(json.dumps({**vars(TrainConfig()), "gamma": 1, "other": []}))
    assert saved_settings(TrainConfig, written, tmp_path) == {**vars(TrainConfig()), "gamma": 1}
    assert saved_settings(MaskablePPOConfig, vars(MaskablePPOConfig()), tmp_path) == vars(MaskablePPOConfig())
