"""Runs with other prices of the reward: what they learn from, record and resume with."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from orchard import WORLD
from orchard.env import OrchardJaxEnv

from rlworldkit.cli.app import main
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.runs.sinks import read_csv
from tests.rlworldkit.ppo.sealing import payload_of, sealed
from tests.rlworldkit.runs.conftest import SIZES, SMALL

pytestmark = pytest.mark.usefixtures("no_picture")
PRICES = ("--price", "step=0.5", "--price", "sting=-2")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def train(*flags: str, updates: int = 2, name: str = "run") -> Path:
    """Train Orchard, for so many updates in all; the folder of the run."""
    resumes = "--resume" in flags
    sizes = ["--total-timesteps", str(updates * SMALL.batch_size)]
    named = [] if resumes else ["--no-wandb", *SIZES, "--run-name", name]
    assert main(WORLD, ["train", *sizes, *named, *flags]) == 0
    return Path("checkpoints") / name


def test_a_run_learns_from_its_prices_and_records_them() -> None:
    own, priced = train(name="own"), train(*PRICES, name="priced")
    (first, _), (first_priced, _) = (read_csv(folder / "metrics.csv") for folder in (own, priced))
    for component, factor in (("step", -50), ("fruit", 1), ("sting", 4)):
        name = f"reward/{component}"
        assert first_priced[name] == pytest.approx(factor * first[name], rel=1e-6)
        assert first[name]
    for folder, prices in ((own, {}), (priced, {"step": 0.5, "sting": -2.0})):
        assert json.loads((folder / "config.json").read_text())["prices"] == prices
        assert read_checkpoint(folder / "checkpoint_2.pkl", OrchardJaxEnv()).config["prices"] == prices


def test_prices_that_a_run_cannot_have_are_one_sentence(
    refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = train(updates=1) / "checkpoint_1.pkl"
    payload = payload_of(path.read_bytes())
    capsys.readouterr()
    for prices, shown in (([1], "a value of type list"), ({"step": "0.5"}, "a value of type dict")):
        payload["config"]["prices"] = prices
        path.write_bytes(sealed(payload))
        expected = f"{path} keeps {shown} as prices, which must be numbers by name: give another file.\n"
        assert refused("train", "--resume", str(path)) == expected
    del payload["config"]["prices"]  # as in checkpoints of earlier versions
    path.write_bytes(sealed(payload))
    assert json.loads((train("--resume", str(path)) / "config.json").read_text())["prices"] == {}
