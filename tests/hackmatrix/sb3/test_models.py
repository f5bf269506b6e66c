"""Models as files: loading one gives what Stable-Baselines3 gives, and commands execute nothing in it."""

import shutil
from pathlib import Path

import pytest
import torch
from sb3_contrib import MaskablePPO

from hackmatrix.world import WORLD
from rlworldkit.runs.sinks import read_csv
from rlworldkit.sb3.training import load_model
from tests.hackmatrix.sb3.conftest import run


@pytest.fixture(scope="session")
def model(finished: Path) -> Path:
    return finished / "final_model.zip"


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
                for row in read_csv(folder / "metrics.csv")
            ]
            found.append((kept, load_model(folder / "final_model.zip", WORLD, "cpu").policy.state_dict()))
        (one, weights), (other, others) = found
        assert len(one) == 5
        assert one == other
        assert all(torch.equal(weights[name], others[name]) for name in weights)
