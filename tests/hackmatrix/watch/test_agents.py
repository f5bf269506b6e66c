"""Agents to watch: the same networks as the trainer's, out of every kind of file."""

from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from hackmatrix.jax_training import ENV
from hackmatrix.networks import NETWORKS
from hackmatrix.numpy_networks import NUMPY_NETWORKS
from hackmatrix.rules import CELL_FEATURES, CORNERS, GRID_PART, NUM_ACTIONS, NUM_CELLS, OBSERVATION_SIZE
from hackmatrix.spaces import split
from hackmatrix.train_config import CONV
from hackmatrix.world import WORLD
from rlparity.errors import ParityError
from rlworldkit.evaluation.choice import likeliest
from rlworldkit.ppo.networks import load_logits, network_of
from rlworldkit.ppo.numpy_network import NumpyNetwork
from rlworldkit.ppo.params import save_params, trained_files
from rlworldkit.sb3.models import load_model, model_content
from rlworldkit.watch.agents import agents_of, first_good_agent, load_agent
from tests.hackmatrix.agents import new_params, write_checkpoint


def observations(seed: int, count: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    seen = random.random((count, OBSERVATION_SIZE)).astype(np.float32)
    seen[:, :2] = random.integers(0, 6, (count, 2)) / np.float32(5)
    exits = seen[:, GRID_PART].reshape(count, NUM_CELLS, -1)[..., CELL_FEATURES.index("exit")]
    exits[:] = np.eye(NUM_CELLS)[random.choice(CORNERS, count)]
    return seen


def test_every_network_has_its_twin() -> None:
    assert NUMPY_NETWORKS.keys() == NETWORKS.keys()


@pytest.mark.parametrize(
    ("name", "hidden_dim", "num_layers"), [*zip(NETWORKS, (32, 8, 8, 8), (3, 1, 2, 1), strict=True)], ids=NETWORKS
)
def test_a_network_in_numpy_computes_what_the_trainer_s_does(name: str, hidden_dim: int, num_layers: int) -> None:
    made = new_params(name, hidden_dim, num_layers)
    theirs = jax.jit(lambda seen: network_of(made, NETWORKS).apply(made, seen))
    mine = NumpyNetwork(made, NUMPY_NETWORKS)
    seen = observations(0, 100)
    for found, expected in zip(mine(seen), theirs(seen), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_parameters_and_checkpoints_hold_the_same_agent(params: Path, tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "checkpoint_1.pkl", new_params())
    seen = observations(0, 4)
    logits, values = load_agent(WORLD, params)(seen)
    for one, other in zip((logits, values), load_agent(WORLD, checkpoint)(seen), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(logits, np.asarray(load_logits(params, ENV)(seen)), rtol=1e-4, atol=1e-4)


def test_the_latest_agent_is_the_furthest_of_the_run_that_began_last(run_folder: Path) -> None:
    path, _ = first_good_agent(WORLD, trained_files(run_folder)) or pytest.fail("no agent")
    assert (path.parent.name, path.name) == ("hackmatrix-20260102-000000-seed0", "checkpoint_20.pkl")
    names = [found.name for found in agents_of(path.parent)]
    assert names == ["checkpoint_20.pkl", "params_10.npz", "checkpoint_10.pkl"]
    assert not agents_of(run_folder), "a folder of runs is no run"


def test_of_models_that_with_the_most_steps_comes_first(model: Path, tmp_path: Path) -> None:
    for name in ("best_model.zip", "final_model.zip"):
        (tmp_path / name).write_bytes(model.read_bytes())
    (tmp_path / "checkpoint_99_steps.zip").write_bytes(b"damaged")
    names = [path.name for path in agents_of(tmp_path)]
    assert names == ["final_model.zip", "best_model.zip", "checkpoint_99_steps.zip"]


def test_given_sizes_must_be_those_of_the_file(params: Path) -> None:
    load_agent(WORLD, params, hidden_dim=16, num_layers=2)
    for hidden_dim, num_layers in ((17, None), (None, 3), (16, 1)):
        with pytest.raises(ParityError, match="holds a network of --hidden-dim 16 and --num-layers 2: give these"):
            load_agent(WORLD, params, hidden_dim=hidden_dim, num_layers=num_layers)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing.npz", "does not exist; give the path of a params"),
        ("nothing.pkl", "does not exist; give the path of a checkpoint"),
        ("nothing.zip", "There is no model"),
        ("notes.txt", "is no agent that can be watched: give params"),
        ("other.npz", "holds a network for another number of actions than the 28 here"),
        ("half.npz", "holds the parameters of a network for other observations than this world's, or only some"),
        ("rules.pkl", "was trained under version 0 of the rules, and these are"),
        ("foreign.pkl", "is no good checkpoint"),
        ("foreign.zip", "is no model of this world that this version can load"),
        ("cart.zip", "is not made of 64×1545 numbers"),
    ],
)
def test_whatever_is_no_agent_of_this_game_is_one_sentence(name: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "other.npz":
        save_params(path, new_params(actions=6))
    elif name == "half.npz":
        made = new_params()
        del made["params"]["hidden_1"]["bias"]
        save_params(path, made)
    elif name == "rules.pkl":
        write_checkpoint(path, new_params(), "0")
    elif name == "cart.zip":
        path.write_bytes(model_content(MaskablePPO("MlpPolicy", "CartPole-v1", n_steps=64)))
    elif name.startswith(("foreign", "notes")):
        path.write_bytes(b"something else")
    with pytest.raises(ParityError, match=sentence) as caught:
        load_agent(WORLD, path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"cell": None},
        {"round_0": None},
        {"round_1": None},
        {"round_1": {"kernel": np.ones((8, 8), np.float32), "bias": np.ones(8, np.float32)}},
        {"round_1": {"kernel": np.ones((40, 1), np.float32), "bias": np.ones(1, np.float32)}},
    ],
    ids=lambda change: "".join(f"{name} {layer and layer['kernel'].shape}" for name, layer in change.items()),
)
def test_cells_that_cannot_tell_each_other_of_themselves_are_one_sentence(change: Any, tmp_path: Path) -> None:  # noqa: ANN401 - layers
    made = new_params(CONV)
    made["params"][CONV] = {name: layer for name, layer in {**made["params"][CONV], **change}.items() if layer}
    path = tmp_path / "params_1.npz"
    save_params(path, made)
    for read in (partial(load_agent, WORLD), lambda path: load_logits(path, ENV)(observations(0, 1))):
        with pytest.raises(ParityError, match="for other observations than this world's, or only some") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_model_of_maskable_ppo_judges_as_it_predicts(model: Path) -> None:
    seen = observations(1, 30)
    masks = np.random.default_rng(0).random((30, NUM_ACTIONS)) < 0.5
    masks[:, 0] = True
    logits, values = load_agent(WORLD, model)(seen)
    loaded = load_model(model, WORLD, "cpu")
    expected, _ = loaded.predict(split(seen), action_masks=masks, deterministic=True)
    assert likeliest(logits, masks).tolist() == np.asarray(expected).tolist()
    assert values.shape == (30,)
    with pytest.raises(ParityError, match="--hidden-dim and --num-layers are for params"):
        load_agent(WORLD, model, hidden_dim=64)
