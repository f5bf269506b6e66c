"""Training in JAX: it makes the updates of the torch trainer, and its files are the same."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from command_line import run
from numpy.typing import NDArray

from goodharts.architecture import NetworkConfig, NetworkKind
from goodharts.cli.evaluate import main as evaluate_main
from goodharts.config import Config
from goodharts.env import GoodhartsJaxEnv, env_of
from goodharts.models import read_model
from goodharts.networks import NETWORKS, params_of, torch_weights
from goodharts.rules import MODES, Mode, Numbers
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import keys_of
from goodharts.torch_networks import ActorCritic, Inputs
from goodharts.training.jax_ppo import _finished, precision_on, train_config
from goodharts.training.jobs import read_checkpoint
from goodharts.training.torch_ppo import TorchTrainer
from goodharts.training.train_ppo import main
from goodharts.world import game_seeds
from rlworldkit.ppo.checkpoints import named_leaves
from rlworldkit.ppo.metrics import metrics_of
from rlworldkit.ppo.networks import network_of
from rlworldkit.ppo.ppo import UpdateStats, collect_rollout
from rlworldkit.ppo.program import CompiledTraining
from rlworldkit.ppo.state import RunnerState
from rlworldkit.runs.sinks import read_csv
from tests.rlworldkit.runs.conftest import compiled_once as compiled_once

from .small_runs import write_small_config

GAMES, STEPS = 8, 16
TRAINING: dict[str, Any] = {
    "engine": "jax",
    "network": "mlp",
    "hidden": 16,
    "n_envs": GAMES,
    "steps_per_env": STEPS,
    "updates": 3,
    "k_epochs": 2,
    "entropy_floor": 3.0,  # above what eight actions have
    "learning_rate": 0.01,
}
SHAPE = NetworkConfig("mlp", hidden=16)
CHECKPOINT = Path("models/ppo_ground_truth.checkpoint.pth")
Update = Callable[[RunnerState, int], tuple[RunnerState, UpdateStats]]


def config(**training: Any) -> Config:  # noqa: ANN401 - values of [training]
    runtime = {"device": "cpu", "amp": False}
    return Config().over({"training": {**TRAINING, **training}, "runtime": runtime}, "the test").validated()


PRICED = config().over({"prices": {"food": 2, "step": 0.5}}, "the test")
PRICES = np.array(PRICED.price_values("ground_truth"), np.int32)
SETTINGS, ENV = train_config(config().training, SHAPE), env_of(MODES["ground_truth"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, with a configuration that trains small on the JAX engine."""
    monkeypatch.chdir(tmp_path)
    write_small_config(tmp_path, {"training": TRAINING})
    return tmp_path


@pytest.fixture(scope="module")
def compiled(compiled_once: Callable[..., CompiledTraining]) -> CompiledTraining:
    """The program that the command runs, too, and its first state."""
    return compiled_once(SETTINGS, ENV, None, (SETTINGS.seed,))


@pytest.fixture(scope="module")
def fresh(compiled: CompiledTraining) -> RunnerState:
    return compiled.runners[0]


@pytest.fixture(scope="module")
def update(compiled: CompiledTraining) -> Update:
    """One update of a run of so many, at other prices than it was compiled with."""

    def one(runner: RunnerState, updates: int) -> tuple[RunnerState, UpdateStats]:
        (after,), stats = compiled.train([runner], jnp.int32(1), updates, PRICES[None])
        return after, jax.tree.map(lambda leaf: leaf[0], stats)

    return one


@jax.jit
def actions_of(runner: RunnerState) -> jax.Array:
    """The actions of a rollout, (steps, games)."""
    return collect_rollout(runner, SETTINGS, ENV)[1].action


def weights_of(runner: RunnerState) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(each) for name, each in torch_weights(SHAPE, runner.train_state.params).items()}


def choose(twin: TorchTrainer, actions: NDArray[np.int32]) -> None:
    """Let the torch trainer's agents take these actions, (steps, games): the others are drawn with hardly a chance."""
    draws = iter(torch.nn.functional.one_hot(torch.tensor(actions).long(), 8))
    twin.player._exponential = lambda: 1e-20 ** next(draws).double()  # type: ignore[method-assign]


def test_both_trainers_make_the_same_updates_of_the_same_actions(fresh: RunnerState, update: Update) -> None:
    """Rewards, looking ahead after truncations, advantages, PopArt, both critics' loss, the floor, clipping, Adam."""
    twin = TorchTrainer("ground_truth", PRICED)
    twin.learner.policy.load_state_dict(weights_of(fresh))
    twin.player.games.state.steps += 500  # of 512: all that live on are truncated in the twelfth step
    twin.player.games.state.energy[::2] = 120  # which every other agent has spent in that step
    steps, energy = fresh.env_state.steps, fresh.env_state.energy
    old, tired = steps.low + jnp.uint32(500), energy.low.at[::2].set(120)
    late = fresh.env_state._replace(steps=steps._replace(low=old), energy=energy._replace(low=tired))
    runner = fresh._replace(env_state=late, episode_steps=old.astype(jnp.int32))
    for number in range(3):
        choose(twin, np.asarray(actions_of(runner)))
        wanted = twin.step()
        runner, stats = jax.device_get(update(runner, 3))
        metrics = metrics_of(stats.loss.by_name(), stats.rollout, GAMES * STEPS, ENV)
        episodes = _finished(jax.tree.map(lambda leaf: leaf[0], stats.episodes))
        assert episodes == [pytest.approx(tuple(row), abs=1e-4) for row in sorted(map(tuple, wanted.episodes))]
        assert episodes or number > 0
        for name, value in wanted.metrics.items():
            if name.startswith("train/"):
                assert metrics[name] == pytest.approx(value, rel=2e-3, abs=1e-4, nan_ok=True), name
        for name, tensor in twin.learner.policy.state_dict().items():
            torch.testing.assert_close(weights_of(runner)[name], tensor, rtol=1e-3, atol=2e-4, msg=name)
        assert metrics["train/entropy_floor_penalty"] > 0.04


@pytest.fixture
def few_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two narrow convolutions, among whose outputs none is so near 0 that rounding decides its ReLU."""
    for module in ("networks", "torch_networks"):
        monkeypatch.setattr(f"goodharts.{module}.CHANNELS", (3, 4))


def networks(kind: NetworkKind, privileged: bool = True) -> tuple[ActorCritic, Any, Any]:
    """A network in torch, and the same in JAX with its parameters."""
    shape = NetworkConfig(kind, hidden=8, privileged=privileged)
    policy = ActorCritic(shape)
    params = params_of(shape, policy.state_dict())
    return policy, network_of(params, NETWORKS, 3), params


@pytest.mark.parametrize(("kind", "privileged"), [("cnn", True), ("mlp", False)])
def test_a_network_is_the_same_in_both(kind: NetworkKind, privileged: bool) -> None:
    policy, network, params = networks(kind, privileged)
    seen, known = torch.rand(5, 2, 11, 11), torch.rand(5, 244)
    logits, values = policy(seen, known)
    ours: Any = jax.jit(network.apply)(params, seen.numpy(), known.numpy())
    np.testing.assert_allclose(ours[0], logits.detach(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours[1], values.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("accelerator", [False, True])
@pytest.mark.usefixtures("few_channels")
def test_convolutions_and_their_gradients_are_torchs(accelerator: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if accelerator:
        monkeypatch.setattr(jax.lax, "platform_dependent", lambda *boards, cpu, default: default(*boards))
    boards = 130  # more than a CPU convolves at once
    policy, network, params = networks("cnn")
    seen, known, direction = (torch.rand(boards, *rest) for rest in ((2, 11, 11), (244,), (8,)))
    (policy(seen, known)[0] * direction).mean().backward()

    def loss(params: Any) -> jax.Array:  # noqa: ANN401 - parameters
        return (network.apply(params, jnp.asarray(seen))[0] * jnp.asarray(direction)).mean()

    ours = jax.jit(jax.grad(loss))(params)["params"]["cnn"]
    for number in (1, 2):
        convolution = policy.body.get_submodule(f"conv{number}")
        for part, ending in (("weight", "kernel"), ("bias", "bias")):
            wanted = convolution.get_parameter(part).grad
            np.testing.assert_allclose(ours[f"conv{number}_{ending}"], wanted, rtol=1e-3, atol=1e-7)  # type: ignore[arg-type]


@pytest.mark.usefixtures("few_channels")
def test_weights_begin_as_torchs_do() -> None:
    policy, network, _ = networks("cnn")
    drawn: Any = jax.jit(network.init)(jax.random.key(1), np.zeros((1, 2, 11, 11)), np.zeros((1, 244)))
    drawn, torchs = torch_weights(policy.config, drawn), policy.state_dict()
    assert set(drawn) == set(torchs)
    for name, weight in torchs.items():
        ours = drawn[name].reshape(len(weight), -1)
        assert drawn[name].shape == weight.shape
        # rows or columns, whichever are fewer, are orthogonal and of the layer's length
        of = weight.flatten(1) if weight.dim() > 1 else weight[:, None]
        np.testing.assert_allclose(np.linalg.norm(ours), of.norm(), rtol=1e-5)
        np.testing.assert_allclose(np.linalg.svd(ours)[1], np.linalg.svd(of.numpy())[1], atol=1e-5)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_G8_the_networks_are_shown_what_torch_shows_them(mode: Mode, fresh: RunnerState) -> None:
    theirs = Games(mode, GAMES)
    codes = theirs.start(keys_of(game_seeds(config().training.seed, GAMES)))
    counts = torch.stack((theirs.state.food_count, theirs.state.poison_count), dim=1).to(torch.int16)
    numbers = Numbers(food_interest=250, poison_interest=-4000, max_food=300)
    seen, known = Inputs(mode, numbers, True, torch.device("cpu"))(codes, counts)
    assert known is not None
    ours = GoodhartsJaxEnv(mode, numbers)
    kept = jax.vmap(ours.compact)(fresh.env_state)
    np.testing.assert_array_equal(ours.expand(kept), seen)
    np.testing.assert_allclose(ours.privileges(kept), known, atol=1e-6)


@pytest.fixture(scope="module")
def whole(fresh: RunnerState, update: Update) -> RunnerState:
    """Three updates whose schedules end with the second, and then with the third."""
    runner = fresh
    for updates in (2, 2, 3):
        runner, _ = update(runner, updates)
    return runner


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, compiled: CompiledTraining) -> tuple[Path, str]:
    """The folder of a run of two updates that was resumed for a third, and its output."""
    folder = tmp_path_factory.mktemp("trained")
    write_small_config(folder, {"training": TRAINING})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for updates, flags in ((2, ["--price", "food=2", "--price", "step=0.5"]), (3, ["--resume"])):
            ran = run(main, "--mode", "ground_truth", "--timesteps", f"{updates * GAMES * STEPS}", *flags)
            assert ran.code == 0, ran.err
    return folder, ran.out


@pytest.fixture
def copied(trained: tuple[Path, str], folder: Path) -> None:
    """The models of that run in the working directory."""
    shutil.copytree(trained[0] / "models", folder / "models")


def test_a_run_leaves_the_files_of_a_torch_run_and_a_resumed_one_is_the_run_without_a_break(
    trained: tuple[Path, str], whole: RunnerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained[0])
    assert "ground_truth: trained after update 3, 384 steps (" in trained[1]
    kept = read_checkpoint(CHECKPOINT).state.runner
    wanted = named_leaves(whole)
    assert set(kept) == set(wanted)
    assert all(np.array_equal(kept[name], leaf) for name, leaf in wanted.items())
    (log,) = Path("logs").glob("*_updates.csv")
    rates = [(row["update"], row["learning_rate"]) for row in read_csv(log)]
    assert rates == [(1, 0.01), (2, pytest.approx(1e-4)), (3, pytest.approx(1e-4))]
    for name in ("metrics.csv", "learning_curve.png", "tensorboard"):
        assert list(Path("runs").glob(f"*/{name}"))
    (settings,) = Path("runs").glob("*/config.json")
    assert json.loads(settings.read_text(encoding="utf-8"))["prices"] == {"step": 0.5, "food": 2.0}
    model = read_model(Path("models/ppo_ground_truth.pth"))
    assert (model.update, model.timesteps, model.config["training"]["engine"]) == (3, 384, "jax")
    # values of a model are in units of reward
    seen, known = torch.rand(5, 2, 11, 11), torch.rand(5, 244)
    state = whole.train_state
    logits, scaled = state.apply_fn(state.params, seen.numpy(), known.numpy())
    theirs = model.policy(seen, known)
    np.testing.assert_allclose(theirs[0].detach(), logits, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(theirs[1].detach(), state.value_scale.values(scaled), rtol=1e-4, atol=1e-5)  # type: ignore[union-attr]
    assert evaluate_main(["--mode", "ground_truth", "--games", "2", "--steps", "3"]) == 0


@pytest.mark.usefixtures("copied")
def test_a_run_goes_on_with_the_engine_that_it_began_with() -> None:
    assert run(main, "--mode", "proxy", "--engine", "torch", "--updates", "1").code == 0
    for mode, began, other in (("ground_truth", "jax", "torch"), ("proxy", "torch", "jax")):
        error = run(main, "--mode", mode, "--engine", other, "--updates", "9", "--resume").refusal()
        path = f"models/ppo_{mode}.checkpoint.pth"
        assert error == f"{path} is of --engine {began}: resume with that engine, or begin anew with {other}.\n"


def test_hidden_layers_compute_in_bfloat16_where_devices_gain_by_it() -> None:
    found = [precision_on(platform, amp) for platform, amp in (("cpu", True), ("gpu", True), ("gpu", False))]
    assert found == ["float32", "bfloat16", "float32"]
