"""``import rlworldkit``: make, train and evaluate a world by its name, as the commands do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from orchard import WORLD as ORCHARD

import rlworldkit
from rlparity.errors import ParityError, UsageError
from rlworldkit.cli.app import main
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.vector_env import WorldVectorEnv
from rlworldkit.evaluation.report import as_json
from rlworldkit.ppo.params import load_params
from rlworldkit.runs.run import TrainResult

WORLD = "orchard:WORLD"
SETTINGS: dict[str, Any] = {"num_envs": 8, "num_steps": 8, "hidden_dim": 8, "num_layers": 1, "num_minibatches": 2}
SETTINGS |= {"update_epochs": 4, "log_interval": 1, "total_timesteps": 128}  # a program that other tests compile, too
PRICES = {"sting": -3}


class Trained(NamedTuple):
    """A run in a folder, and what it printed."""

    run: TrainResult
    folder: Path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("runs") / "first"
    return Trained(rlworldkit.train(WORLD, folder=folder, seed=3, prices=PRICES, quiet=True, **SETTINGS), folder)


def test_the_package_says_what_it_offers_and_imports_nothing_until_asked() -> None:
    code = (
        "import sys, rlworldkit;"
        "print(*[name for name in ('numpy', 'jax', 'rlparity', 'rlworldkit.api') if name in sys.modules]);"
        "print(dir(rlworldkit), rlworldkit.__version__)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = ["__version__", "evaluate", "make", "train"]
    assert printed.splitlines() == ["", f"{names} {rlworldkit.__version__}"]
    assert not hasattr(rlworldkit, "trian")


def test_a_world_is_made_for_gymnasium_alone_and_in_batches() -> None:
    with_prices: WorldEnv = rlworldkit.make(ORCHARD, engine="jax", max_episode_steps=3, prices=PRICES)
    many: WorldVectorEnv = rlworldkit.make(WORLD, num_envs=2, engine="plain")
    assert (type(with_prices), with_prices.engine) == (WorldEnv, "jax")
    assert with_prices.world.price_values != ORCHARD.price_values
    assert (many.num_envs, many.engine) == (2, "plain")
    observation, _ = with_prices.reset(seed=5)
    np.testing.assert_array_equal(many.reset(seed=5)[0][0], observation)
    for env in (with_prices, many):
        env.close()


def test_a_run_is_that_of_the_command(trained: Trained, tmp_path: Path) -> None:
    run, folder = trained
    assert run.files == [folder / "checkpoint_2.pkl", folder / "params_2.npz"]
    assert {"config.json", "metrics.csv", "learning_curve.png"} < {path.name for path in folder.iterdir()}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    where = ["--checkpoint-dir", str(tmp_path), "--run-name", "first", "--no-wandb"]
    assert main(ORCHARD, ["train", *flags, "--seed=3", "--price=sting=-3", *where]) == 0
    jax.tree.map(np.testing.assert_array_equal, load_params(tmp_path / "first" / "params_2.npz"), run.params)
    written, ours = (json.loads((path / "config.json").read_text()) for path in (tmp_path / "first", folder))
    assert {name for name in written if written[name] != ours[name]} <= {"began"}


@pytest.mark.parametrize("choose", ["drawn", pytest.param("likeliest", marks=pytest.mark.long)])
def test_figures_are_those_of_the_command(trained: Trained, choose: str, tmp_path: Path) -> None:
    file, path = str(trained.run.files[-1]), tmp_path / "figures.json"
    how: dict[str, Any] = {"games": 30, "seed": 5, "choose": choose, "max_steps": 40, "prices": PRICES}
    flags = ["--episodes=30", "--seed=5", "--max-steps=40", "--price=sting=-3", f"--choose={choose}"]
    assert main(ORCHARD, ["evaluate", file, *flags, "--json", str(path)]) == 0
    for agent in (trained.run, file, Path(file)):
        assert as_json(rlworldkit.evaluate(WORLD, agent, **how)) == path.read_text()
    assert rlworldkit.evaluate(WORLD, file, engine="plain", num_envs=7, **how) == rlworldkit.evaluate(
        WORLD, file, **how
    )


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        ("make", {"world": "orchrad"}, "there is no world 'orchrad'"),
        ("make", {"world": "orchard.env:ENV"}, "is of type OrchardJaxEnv, not a rlparity.World"),
        ("make", {"engine": "rust"}, "there is no engine 'rust': choose plain or jax or planes."),
        ("train", {"lrr": 1e-3}, "train has an unknown key 'lrr' (did you mean 'lr'?)"),
        ("train", {"gamma": 2}, "train: gamma must be a number from 0 to 1, got 2."),
        ("train", {"preset": "quick"}, "--preset must be left out, since this world has none, got 'quick'."),
        ("train", {"num_minibatches": 3}, "num_minibatches must divide the batch of 256 x 128"),
        ("train", {"prices": {"stign": 1}}, "stign"),
        ("evaluate", {"agent": "nobody"}, "nobody is no agent: give params_"),
        ("evaluate", {"agent": "random", "engine": "rust"}, "no engine 'rust': choose plain or jax or planes."),
        ("evaluate", {"agent": "random", "games": 0}, "games and num_envs must be at least 1, got 0 and 256."),
    ],
)
def test_a_mistake_gets_a_sentence(
    function: str, given: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlworldkit.api.get_device_config", lambda: pytest.fail("it asks for JAX first"))
    with pytest.raises(UsageError) as caught:
        getattr(rlworldkit, function)(**{"world": WORLD} | given)
    assert said in str(caught.value)


def test_a_folder_that_holds_a_run_and_a_run_of_another_world_are_refused(trained: Trained) -> None:
    files = sorted(trained.folder.iterdir())
    with pytest.raises(UsageError, match=r"first already holds a run; choose another"):
        rlworldkit.train(WORLD, folder=trained.folder, quiet=True, **SETTINGS)
    assert sorted(trained.folder.iterdir()) == files
    foreign = trained.run._replace(params={"params": {"policy": {"kernel": np.zeros((3, 2))}}})
    with pytest.raises(ParityError, match="not those of an ActorCritic"):
        rlworldkit.evaluate(WORLD, foreign, games=2)
