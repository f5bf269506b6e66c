"""Exported policies play the games that the agent plays, by onnxruntime alone and through the commands."""

import json
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from command_line import run
from safetensors import safe_open

from hackmatrix import rules
from hackmatrix.cli.main import main
from hackmatrix.networks import NETWORKS
from hackmatrix.world import WORLD
from rlworldkit.agents.agent import LIKELIEST, AgentPlayer, Choice, Player
from rlworldkit.agents.onnx_policy import onnx_metadata
from rlworldkit.agents.reader import read_agent
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.ppo.params import load_params, save_params
from rlworldkit.ppo.value_heads import HEADS, PLAIN, POPART, TWO_HOT, ValueHead
from tests.hackmatrix.agents import new_params
from tests.hackmatrix.test_reading_agents import all_valid, observations

GAMES = 60


@pytest.fixture(scope="module")
def exported(params: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy of ``params`` as ONNX, from a run at another price."""
    folder = tmp_path_factory.mktemp("run")
    agent, policy = folder / params.name, folder / "policy.onnx"
    agent.write_bytes(params.read_bytes())
    (folder / "config.json").write_text('{"gamma": 0.9, "prices": {"kills": 0.4}}')
    (folder / "metrics.csv").write_text("update,timesteps,train/entropy\n1,512,0.75\n")
    (folder / "learning_curve.png").write_bytes(b"a picture")
    ran = run(main, "export", agent, "--output", policy)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [f"Written: {policy}{end}" for end in ("", ".png", ".md")]
    return policy


def player_by_onnxruntime(path: Path) -> Player:
    """A player that knows no more of the file than its card says."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def player(seen: np.ndarray, mask: np.ndarray, seeds: np.ndarray, steps: np.ndarray) -> np.ndarray:
        (action,) = session.run(["action"], {"observation": seen, "mask": mask})
        return np.asarray(action, np.int32)

    return player


@pytest.mark.parametrize("max_steps", [30, pytest.param(300, marks=pytest.mark.long)])
def test_the_policy_plays_the_agent_s_games_on_the_swift_engine(
    max_steps: int, swift_built: None, params: Path, exported: Path
) -> None:
    """Three ways: onnxruntime alone, which masks inside; the file as a player; and the agent as `evaluate` plays it."""
    by_file = [AgentPlayer(read_agent(WORLD, path), Choice(LIKELIEST)) for path in (exported, params)]
    players: tuple[Player, ...] = player_by_onnxruntime(exported), *by_file
    alone, read, expected = (
        play_episodes(WORLD, player, 0, GAMES, engine="swift", num_envs=GAMES, max_steps=max_steps)
        for player in players
    )
    assert alone == read == expected
    assert len({episode.stats["return"] for episode in expected}) > GAMES / 4, "games differ"


@pytest.mark.parametrize(("network", "head"), [*zip(NETWORKS, (TWO_HOT, POPART, PLAIN, PLAIN), strict=True)])
def test_every_network_and_value_head_is_computed_as_in_numpy(network: str, head: ValueHead, tmp_path: Path) -> None:
    agent, policy = tmp_path / "params_1.npz", tmp_path / "policy.onnx"
    params, (layer, outputs) = new_params(network), HEADS[head]
    kernel = params["params"].pop("value")["kernel"]
    params["params"][layer] = {"kernel": kernel * np.linspace(1, 2, outputs), "bias": np.zeros(outputs)}
    save_params(agent, params)
    assert run(main, "export", agent, "--output", policy).code == 0
    seen = observations(3, 20)
    judged = [read_agent(WORLD, path)(seen, all_valid(seen)) for path in (policy, agent)]
    for found, expected in zip(*judged, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_invalid_actions_have_no_chance(exported: Path) -> None:
    session = onnxruntime.InferenceSession(str(exported))
    seen = observations(4, 50)
    mask = np.random.default_rng(0).random((50, rules.NUM_ACTIONS)) < 0.1
    mask[:, 7] = True
    logits, action = session.run(["logits", "action"], {"observation": seen, "mask": mask})
    assert (np.isneginf(logits) == ~mask).all()
    assert (action == logits.argmax(axis=1)).all()


def test_metadata_says_what_the_numbers_mean_and_where_they_come_from(exported: Path, params: Path) -> None:
    metadata = onnx_metadata(exported)
    assert (metadata["world"], metadata["rules_version"]) == ("hackmatrix", rules.VERSION)
    assert json.loads(metadata["actions"]) == list(rules.ACTIONS)
    observation = json.loads(metadata["observation"])
    assert (observation["shape"], observation["labels"][2]) == ([rules.OBSERVATION_SIZE], "player hp")
    prices = json.loads(metadata["prices"])
    assert (prices["kills"], prices["victory"]) == (0.4, 500)
    provenance = json.loads(metadata["provenance"])
    assert (provenance["file"], provenance["settings"]) == (params.name, {"gamma": 0.9})


def test_parameters_alone_are_those_of_the_agent(params: Path, tmp_path: Path) -> None:
    npz, safetensors = tmp_path / "policy.npz", tmp_path / "policy.safetensors"
    for path in (npz, safetensors):
        assert run(main, "export", params, "--format", path.suffix[1:], "--output", path).code == 0
    kernel = load_params(params)["params"]["policy"]["kernel"]
    np.testing.assert_array_equal(load_params(npz)["params"]["policy"]["kernel"], kernel)
    with safe_open(safetensors, "np") as file:
        np.testing.assert_array_equal(file.get_tensor("params/policy/kernel"), kernel)
        metadata = file.metadata()
    with zipfile.ZipFile(npz) as archive:
        assert json.loads(archive.comment) == metadata
    assert metadata["world"] == "hackmatrix"


def test_a_model_of_maskable_ppo_is_exported_as_one_network(model: Path, tmp_path: Path) -> None:
    seen = observations(5, 20).round()
    expected, values = read_agent(WORLD, model)(seen, all_valid(seen))
    for kind in ("onnx", "npz"):
        policy = tmp_path / f"policy.{kind}"
        assert run(main, "export", model, "--output", policy).code == 0
        logits, found = read_agent(WORLD, policy)(seen, all_valid(seen))
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))  # as torch has them
        np.testing.assert_allclose(logits, expected, atol=1e-5)
        np.testing.assert_allclose(found, values, atol=1e-5)


def test_prices_are_those_of_the_run_or_not_known(params: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.onnx"
    assert run(main, "export", params, "--output", policy).code == 0
    assert json.loads(onnx_metadata(policy)["prices"]) == {}
    assert "| prices of the reward | not known |" in Path(f"{policy}.md").read_text()
