"""Models as files: loading one executes nothing, gives what Stable-Baselines3 gives, and refuses what is wrong."""

import base64
import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sb3_contrib import MaskablePPO

from hackmatrix.cli.main import main
from hackmatrix.env_spec import ENV_SPEC
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from rlparity.errors import UsageError
from rlworldkit.sb3.model_file import PLAIN
from rlworldkit.sb3.training import load_model
from tests.hackmatrix.sb3.conftest import SHORT, run
from tests.hackmatrix.sb3.test_training import rows
from tests.mutations import WRONG, altered, damaged, is_one_line, said_or_read

Files = dict[str, bytes]


@pytest.fixture(scope="session")
def model(finished: Path) -> Path:
    return finished / "final_model.zip"


@pytest.fixture(scope="session")
def files(model: Path) -> Files:
    with zipfile.ZipFile(model) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path: Path, files: Mapping[str, bytes | None]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def saved(value: object) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def loaded(content: bytes) -> Any:  # noqa: ANN401 - whatever torch reads
    return torch.load(io.BytesIO(content), weights_only=True)


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_model(path, ENV_SPEC, "cpu")
    assert is_one_line(caught.value)
    return str(caught.value)


class Harmful:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


class TestLoadingExecutesNothing:
    @pytest.fixture
    def trap(self, tmp_path: Path) -> Path:
        return tmp_path / "executed"

    def data(self, files: Files, trap: Path, *, inside: str = "policy_class") -> bytes:
        """The settings as Stable-Baselines3 keeps them, one of them harmful."""
        packed = base64.b64encode(pickle.dumps(Harmful(trap))).decode()
        return json.dumps({**json.loads(files["data"]), inside: {":type:": "", ":serialized:": packed}}).encode()

    def test_settings_in_pickles_are_not_read(self, files: Files, trap: Path, tmp_path: Path) -> None:
        crafted = {**files, "data": self.data(files, trap)}
        ours = written(tmp_path / "ours.zip", crafted)
        load_model(ours, ENV_SPEC, "cpu")
        theirs = written(tmp_path / "theirs.zip", {**crafted, PLAIN: None})
        assert "only pickles hold its settings, and these can execute anything: add --trust if you" in refused(theirs)
        assert not trap.exists()
        with pytest.raises(UsageError):
            load_model(theirs, ENV_SPEC, "cpu", trust=True)
        assert trap.exists(), "the trap is one"

    @pytest.mark.parametrize("name", ["policy.pth", "policy.optimizer.pth", "pytorch_variables.pth"])
    @pytest.mark.parametrize("as_archive", [True, False])
    def test_pickles_among_the_tensors_are_refused(
        self, files: Files, trap: Path, tmp_path: Path, name: str, as_archive: bool
    ) -> None:
        harmful = saved({"weight": Harmful(trap)}) if as_archive else pickle.dumps(Harmful(trap))
        path = written(tmp_path / "model.zip", {**files, name: harmful})
        if name == "pytorch_variables.pth":  # MaskablePPO has none, so they are not even read
            load_model(path, ENV_SPEC, "cpu")
        else:
            assert f"its {name} is damaged, or holds more than tensors" in refused(path) or "no zip" in refused(path)
        assert not trap.exists()

    @pytest.mark.parametrize("words", [["watch-sb3", "--render", "ansi", "--model"], ["train-sb3", "--resume"]])
    def test_the_commands_refuse_them_too(
        self, files: Files, trap: Path, tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = written(tmp_path / "model.zip", {**files, PLAIN: None, "data": self.data(files, trap)})
        with pytest.raises(SystemExit) as caught:
            main([*words, str(path)])
        assert caught.value.code == 2
        said = capsys.readouterr().err
        assert "add --trust if you trust whoever made it" in said
        assert said.count("\n") == 1
        assert not trap.exists()


class TestTheSameModel:
    def test_everybody_else_can_load_it(self, model: Path) -> None:
        theirs, ours = MaskablePPO.load(model, device="cpu"), load_model(model, ENV_SPEC, "cpu")
        for name, value in theirs.policy.state_dict().items():
            assert torch.equal(value, ours.policy.state_dict()[name])
        moments = (each.policy.optimizer.state_dict()["state"] for each in (theirs, ours))
        for one, other in zip(*(state.values() for state in moments), strict=True):
            assert all(torch.equal(one[name], other[name]) for name in one)
        for name in ("num_timesteps", "_n_updates", "observation_space", "action_space", "n_steps", "ent_coef", "seed"):
            assert getattr(theirs, name) == getattr(ours, name)
        assert list(theirs.ep_info_buffer or ()) == list(ours.ep_info_buffer or ())

    def test_going_on_is_as_with_stable_baselines(self, finished: Path, tmp_path: Path) -> None:
        found = []
        for trust in (False, True):
            folder = Path(shutil.copytree(finished, tmp_path / f"trust-{trust}"))
            run(folder, resume=folder / "final_model.zip", timesteps=2560, trust=trust)
            timed = ("seconds", "steps_per_second", "time/")
            kept = [
                {name: value for name, value in row.items() if not name.startswith(timed)}
                for row in rows(folder / "metrics.csv")
            ]
            found.append((kept, load_model(folder / "final_model.zip", ENV_SPEC, "cpu").policy.state_dict()))
        (one, weights), (other, others) = found
        assert len(one) == 5
        assert one == other
        assert all(torch.equal(weights[name], others[name]) for name in weights)

    def test_a_rate_that_is_a_function_comes_from_the_configuration(self, model: Path, swift_built: None) -> None:
        env = HackMatrixVecEnv(4, seed=0)
        with pytest.raises(UsageError, match=r"its learning_rate was a function, which no file holds: resume it from"):
            load_model(model, env, "cpu", rates={"learning_rate": 1e-3})
        resumed = load_model(model, env, "cpu", rates={"learning_rate": SHORT.learning_rate})
        assert resumed.lr_schedule(0.5) == 0.5e-3
        assert callable(resumed.clip_range)
        assert resumed.clip_range(0.5) == 0.2
        env.close()

    def test_a_model_of_another_library_is_loaded_with_trust(self, model: Path, files: Files, tmp_path: Path) -> None:
        path = written(tmp_path / "old.zip", {**files, PLAIN: None})
        assert load_model(path, ENV_SPEC, "cpu", trust=True).num_timesteps == 2048


BIAS = "action_net.bias"
ZEROS = torch.zeros(28)
POLICY, OPTIMIZER = "policy.pth", "policy.optimizer.pth"
Change = Any  # bytes, or values by name, of which ``...`` removes a weight


def changed(files: Files, part: str, change: Change) -> bytes | None:
    """Return other content of a file: ``plain`` is the part in JSON, ``set`` changes the settings in it."""
    plain = json.loads(files[PLAIN])
    if part in ("plain", "set"):
        value = plain | change if part == "plain" else plain | {"settings": plain["settings"] | change}
        return json.dumps(value).encode()
    if part == "weights":
        weights = dict(loaded(files[POLICY])) | change
        return saved({name: value for name, value in weights.items() if value is not ...})
    if part == "moments":
        optimizer = loaded(files[OPTIMIZER])
        change(optimizer["state"])
        return saved(optimizer)
    content: bytes | None = change
    return content


FILE_OF = {"plain": PLAIN, "set": PLAIN, "weights": POLICY, "moments": OPTIMIZER}


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        (PLAIN, b"{", "it is no JSON"),
        (PLAIN, b"[]", "its worldkit.json is no object"),
        (PLAIN, b"\xff", "it is no UTF-8 text"),
        (PLAIN, b'{"a":' * 200_000, "it is nested too deeply"),
        ("plain", {"version": 2}, "of version 2, and 1 is read"),
        ("plain", {"settings": []}, "its settings must be "),
        ("set", {"more": 1}, "its settings must be "),
        ("set", {"n_steps": 0}, "keeps 0 as n_steps, which must be a whole number from 1 to"),
        ("set", {"n_steps": 2**20}, "which takes too much memory"),
        ("set", {"gamma": "one\n"}, "as gamma, which must be a number"),
        ("set", {"batch_size": True}, "as batch_size, which must be a whole number"),
        ("set", {"ent_coef": float("nan")}, "as ent_coef, which must be a number"),
        ("set", {"normalize_advantage": 1}, "which must be true or false"),
        ("plain", {"num_timesteps": -1}, "its num_timesteps is -1"),
        ("plain", {"updates": 1.5}, "its updates is 1.5"),
        ("plain", {"episodes": {}}, "its episodes are no list"),
        ("plain", {"episodes": [{"r": "much"}]}, "its episodes are no list"),
        (POLICY, None, "it lacks policy.pth"),
        (OPTIMIZER, None, "it lacks policy.optimizer.pth"),
        (POLICY, saved(ZEROS)[:500], "no zip archive"),
        (POLICY, saved([1]), "its parameters are not those of MaskablePPO's policy"),
        ("weights", {BIAS: ...}, "its parameters are not those"),
        ("weights", {BIAS: "text"}, "its action_net.bias is not made of 28 numbers"),
        ("weights", {BIAS: torch.zeros(3)}, "its action_net.bias is not made of 28"),
        ("weights", {BIAS: ZEROS.double()}, "is not made of 28 numbers"),
        ("weights", {BIAS: torch.full((28,), torch.nan)}, "is not made of 28 numbers"),
        ("weights", {BIAS: torch.zeros(28, device="meta")}, "is not made of|damaged"),
        ("weights", {BIAS: torch.zeros(1).expand(10**9)}, "is not made of 28 numbers"),
        (OPTIMIZER, saved([1]), "its optimizer is of another policy"),
        ("moments", lambda state: state.pop(3), "of another policy"),
        ("moments", lambda state: state[3].pop("step"), "is no Adam"),
        ("moments", lambda state: state[3].update(exp_avg=torch.ones(2)), "its optimizer is of another policy"),
    ],
)
def test_what_is_wrong_with_a_model_is_one_sentence(
    files: Files, tmp_path: Path, part: str, change: Change, sentence: str
) -> None:
    path = written(tmp_path / "model.zip", {**files, FILE_OF.get(part, part): changed(files, part, change)})
    said = refused(path)
    assert any(each in said for each in sentence.split("|"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: os.mkfifo(path), "it is a pipe, a device or the like"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a pipe, a device or the like"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.write_bytes(b"PK\3\4 half a zip"), "is no model of this world that this version can load"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2**31 + 1), "larger than 2 GiB"),
    ],
    ids=["pipe", "device", "folder", "half", "too large"],
)
def test_what_is_no_file_of_a_reasonable_size_is_one_sentence(
    make: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    make(tmp_path / "model.zip")
    assert sentence in refused(tmp_path / "model.zip")
    assert "File name too long" in refused(tmp_path / ("x" * 300))


@pytest.mark.parametrize("examples", [50, pytest.param(5_000, marks=pytest.mark.long)])
def test_mutated_models_are_read_or_refused(files: Files, tmp_path: Path, examples: int) -> None:
    path = tmp_path / "model.zip"
    whole = written(path, files).read_bytes()
    plain = json.loads(files[PLAIN])

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.data())
    def every_one_is_read_or_refused(data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(("file", "plain", "plain", "policy.pth", "policy.optimizer.pth", PLAIN)))
        if kind == "file":
            path.write_bytes(data.draw(damaged(whole)))
        elif kind == "plain":
            text = json.dumps(data.draw(altered(plain, WRONG)))
            written(path, {**files, PLAIN: text.encode("utf-8", "surrogatepass")})
        else:
            written(path, {**files, kind: data.draw(damaged(files[kind]))})
        said_or_read(lambda: load_model(path, ENV_SPEC, "cpu"))

    every_one_is_read_or_refused()
