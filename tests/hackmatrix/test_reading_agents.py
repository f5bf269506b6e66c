"""One reader for agents of every kind of file, in every command; whatever is no agent of this game is one sentence."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from command_line import run
from sb3_contrib import MaskablePPO

from hackmatrix.agents import AGENTS, BEST
from hackmatrix.cli.main import main
from hackmatrix.networks import NETWORKS
from hackmatrix.numpy_networks import NUMPY_NETWORKS
from hackmatrix.rules import CELL_FEATURES, CORNERS, GRID_PART, NUM_ACTIONS, NUM_CELLS, OBSERVATION_SIZE
from hackmatrix.spaces import split
from hackmatrix.train_config import CONV
from hackmatrix.world import WORLD
from rlparity.cli.main import main as rlparity
from rlparity.errors import ParityError
from rlworldkit.agents.agent import AgentPlayer, likeliest
from rlworldkit.agents.numpy_network import NumpyNetwork
from rlworldkit.agents.reader import agent_files, first_agent, read_agent
from rlworldkit.agents.search import discount_of
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.ppo.networks import network_of
from rlworldkit.ppo.params import save_params, trained_files
from rlworldkit.runs.folder import CONFIG
from rlworldkit.sb3.models import load_model, model_content
from tests.hackmatrix.agents import new_params, write_checkpoint

MIN_RETURN, MIN_STAGE = 410.0, 6.6
"""Limits that `best` must exceed in the mean of 32 games, its actions drawn: return and highest stage."""
LARGEST = 1_500_000
"""Bytes that one agent may take in every clone and every wheel."""


def observations(seed: int, count: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    seen = random.random((count, OBSERVATION_SIZE)).astype(np.float32)
    seen[:, :2] = random.integers(0, 6, (count, 2)) / np.float32(5)
    exits = seen[:, GRID_PART].reshape(count, NUM_CELLS, -1)[..., CELL_FEATURES.index("exit")]
    exits[:] = np.eye(NUM_CELLS)[random.choice(CORNERS, count)]
    return seen


def all_valid(seen: np.ndarray) -> np.ndarray:
    return np.ones((len(seen), NUM_ACTIONS), np.bool_)


@pytest.mark.parametrize(
    ("name", "hidden_dim", "num_layers"), [*zip(NETWORKS, (32, 16, 16, 16), (3, 2, 2, 2), strict=True)], ids=NETWORKS
)
def test_a_network_in_numpy_computes_what_the_trainer_s_does(name: str, hidden_dim: int, num_layers: int) -> None:
    assert NUMPY_NETWORKS.keys() == NETWORKS.keys()
    made = new_params(name, hidden_dim, num_layers)
    theirs: Any = jax.jit(network_of(made, NETWORKS).apply)
    mine = NumpyNetwork(made, NUMPY_NETWORKS)
    seen = observations(0, 100)
    for found, expected in zip(mine(seen), theirs(made, seen), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def kinds(params: Path, model: Path, run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file, a folder or a name of every kind."""
    folder = tmp_path_factory.mktemp("kinds")
    assert run(main, "export", params, "--output", folder / "policy.onnx").code == 0
    return {
        "npz": params,
        "pkl": write_checkpoint(folder / "checkpoint_1.pkl", new_params()),
        "zip": model,
        "onnx": folder / "policy.onnx",
        "run": next(run_folder.rglob("params_900.npz")).parent,
        **{name: Path(name) for name in (BEST, "walk", "random")},
    }


KINDS = "npz", "pkl", "zip", "onnx", "run", BEST, "walk", "random"
GAMES = "--engine", "swift", "--episodes", "1", "--max-steps", "3"
COMMANDS: dict[str, tuple[str, ...]] = {
    "evaluate": ("evaluate", "{}", *GAMES),
    "compare": ("compare", "--group", "one={}", *GAMES),
    "watch": ("watch", "{}", *GAMES, "--render", "ansi"),
    "view": ("view", "{}", *GAMES, "--output", "page.html"),
    "export": ("export", "{}", "--output", "policy.onnx"),
}


@pytest.mark.parametrize(
    ("command", "kind"),
    # one function reads all kinds; what else a command does depends on whether it is a file, a folder or a name
    [*product(("evaluate", "export"), KINDS), *product(("compare", "watch", "view"), ("npz", "run", "walk"))],
)
def test_every_command_takes_every_kind(
    command: str, kind: str, swift_built: None, kinds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(main, *(word.format(kinds[kind]) for word in COMMANDS[command]))
    if command == "export" and kind in ("onnx", "walk", "random"):
        assert "cannot be exported: give what it was exported from" in ran.refusal()
    else:
        assert ran.code == 0, ran.err
        assert command != "watch" or ", drawn actions, swift\n" in ran.out


def test_the_harness_draws_by_an_agent(swift_built: None, params: Path) -> None:
    words = "--engines", "swift,swift", "--games", "2", "--steps", "4"
    assert rlparity(["run", "--world", "hackmatrix", "--source", f"policy:{params}", *words]) == 0


def test_a_checkpoint_and_an_export_judge_as_the_parameters_do(kinds: dict[str, Path]) -> None:
    seen = observations(0, 4)
    expected = read_agent(WORLD, kinds["npz"])(seen, all_valid(seen))
    for kind, error in (("pkl", 0.0), ("onnx", 1e-4)):
        for one, other in zip(expected, read_agent(WORLD, kinds[kind])(seen, all_valid(seen)), strict=True):
            np.testing.assert_allclose(one, other, rtol=error, atol=error)


def test_a_model_of_maskable_ppo_judges_as_it_predicts(model: Path) -> None:
    seen = observations(1, 30)
    masks = np.random.default_rng(0).random((30, NUM_ACTIONS)) < 0.5
    masks[:, 0] = True
    logits, values = read_agent(WORLD, model)(seen, masks)
    loaded = load_model(model, WORLD, "cpu")
    expected, _ = loaded.predict(split(seen), action_masks=masks, deterministic=True)
    assert likeliest(logits, masks).tolist() == np.asarray(expected).tolist()
    assert values.shape == (30,)
    with pytest.raises(ParityError, match="--hidden-dim and --num-layers are for params"):
        read_agent(WORLD, model, hidden_dim=64)


def test_of_a_folder_the_furthest_agent_comes_first(run_folder: Path, model: Path, tmp_path: Path) -> None:
    latest = first_agent(WORLD, trained_files(run_folder)) or pytest.fail("no agent")
    run = latest.path.parent
    assert (run.name, latest.path.name) == ("hackmatrix-20260102-000000-seed0", "checkpoint_20.pkl")
    names = [found.name for found in agent_files(WORLD, run)]
    assert names == ["checkpoint_20.pkl", "params_10.npz", "checkpoint_10.pkl"]
    assert not agent_files(WORLD, run_folder), "a folder of runs is no run"
    for name in ("best_model.zip", "final_model.zip"):
        shutil.copy(model, tmp_path / name)
    (tmp_path / "checkpoint_99_steps.zip").write_bytes(b"damaged")
    names = [path.name for path in agent_files(WORLD, tmp_path)]
    assert names == ["final_model.zip", "best_model.zip", "checkpoint_99_steps.zip"]


def test_given_sizes_must_be_those_of_the_file(params: Path) -> None:
    read_agent(WORLD, params, hidden_dim=16, num_layers=2)
    for hidden_dim, num_layers in ((17, None), (None, 3), (16, 1)):
        with pytest.raises(ParityError, match="holds a network of --hidden-dim 16 and --num-layers 2: give these"):
            read_agent(WORLD, params, hidden_dim=hidden_dim, num_layers=num_layers)


OTHERS = "holds the parameters of a network for other observations than this world's, or only some"
LAYER = {"kernel": np.ones((8, 8), np.float32), "bias": np.ones(8, np.float32)}


def with_cells(**layers: Any) -> Any:  # noqa: ANN401 - parameters
    """The parameters of the network `conv` with some of its encoder's layers replaced, or left out for None."""
    made = new_params(CONV)
    made["params"][CONV] = {name: each for name, each in {**made["params"][CONV], **layers}.items() if each}
    return made


def without_a_bias() -> Any:  # noqa: ANN401 - parameters
    made = new_params()
    del made["params"]["hidden_1"]["bias"]
    return made


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        *((f"nothing{kind}", None, "there is no ") for kind in (".npz", ".pkl", ".onnx", ".zip")),
        *((name, b"else", "is no agent: give params_") for name in ("notes.txt", BEST, "x" * 100)),
        ("folder/", None, "There is no agent in"),
        ("other.npz", lambda: new_params(actions=6), "holds a network for another number of actions than the 28 here"),
        ("half.npz", without_a_bias, OTHERS),
        *(
            (f"cells{number}.npz", lambda layers=layers: with_cells(**layers), OTHERS)
            for number, layers in enumerate(({"cell": None}, {"round_0": None}, {"round_1": None}, {"round_1": LAYER}))
        ),
        ("rules.pkl", "0", "was trained under version 0 of the rules, and these are"),
        ("cart.zip", MaskablePPO, "is not made of 64×1545 numbers"),
    ],
)
def test_whatever_is_no_agent_of_this_game_is_one_sentence(
    name: str, content: object, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same one in a command as in Python; what lies there under the name of an agent goes before it."""
    monkeypatch.chdir(tmp_path)
    path = Path(name)
    if name.endswith("/"):
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        write_checkpoint(path, new_params(), content)
    elif content is MaskablePPO:
        path.write_bytes(model_content(MaskablePPO("MlpPolicy", "CartPole-v1", n_steps=64)))
    elif callable(content):
        save_params(path, content())
    with pytest.raises(ParityError, match=sentence) as caught:
        read_agent(WORLD, path)
    assert "\n" not in str(caught.value)
    assert str(caught.value) in run(main, "evaluate", path).refusal()


def test_the_best_plays_well(swift_built: None) -> None:
    player = AgentPlayer(read_agent(WORLD, BEST))
    played = play_episodes(WORLD, player, 0, 32, num_envs=32, engine="swift", max_steps=600)
    assert np.mean([episode.stats["return"] for episode in played]) > MIN_RETURN
    assert np.mean([episode.stats["highest_stage"] for episode in played]) > MIN_STAGE


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_small_and_has_the_settings_of_its_run_beside_it(name: str) -> None:
    path = AGENTS[name]
    assert {array.dtype for array in np.load(path).values()} == {np.dtype(np.float16)}
    assert path.stat().st_size < LARGEST
    gamma = json.loads((path.parent / CONFIG).read_text())["gamma"]
    assert gamma == discount_of(read_agent(WORLD, name)) > 0.9
    assert WORLD.agent_name(path) == name
