"""Models as files: loading one gives what Stable-Baselines3 gives, and commands execute nothing in it."""

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from sb3_contrib import MaskablePPO

from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.world import WORLD
from rlparity.errors import UsageError
from rlworldkit.sb3.training import load_model
from tests.hackmatrix.sb3.conftest import SHORT, run
from tests.hackmatrix.sb3.test_training import rows

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


class TestTheSameModel:
    def test_everybody_else_can_load_it(self, model: Path) -> None:
        theirs, ours = MaskablePPO.load(model, device="cpu"), load_model(model, WORLD, "cpu")
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
            found.append((kept, load_model(folder / "final_model.zip", WORLD, "cpu").policy.state_dict()))
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
