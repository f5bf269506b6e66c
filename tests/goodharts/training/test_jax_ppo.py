"""The trainer on the JAX engine: it makes the updates of the torch trainer, and its files are the same."""

import csv
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import export
from numpy.typing import NDArray
from torch import nn

from goodharts.architecture import NETWORKS, NetworkConfig, NetworkKind
from goodharts.cli.evaluate import main as evaluate_main
from goodharts.cli.train import main
from goodharts.config import Config
from goodharts.jax_training import GoodhartsJaxEnv
from goodharts.models import policy_of, read_model
from goodharts.networks import ActorCritic
from goodharts.rules import DEFAULT_NUMBERS, MODES, Mode
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys
from goodharts.training.checkpoints import read_checkpoint, restore
from goodharts.training.inputs import Inputs
from goodharts.training.jax_ppo import network
from goodharts.training.jax_ppo.programs import moment
from goodharts.training.jax_ppo.trainer import JaxTrainer, precision_on
from goodharts.training.popart import PopArt
from goodharts.training.rates import rates_at
from goodharts.training.torch_trainer import TorchTrainer
from parity.errors import UsageError
from parity.reading import Unreadable
from worldkit.ppo.masked_ppo import Rates
from worldkit.ppo.value_heads import FIRST_SCALE, moved

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
CHECKPOINT = Path("models/ppo_ground_truth.checkpoint.pth")


def config(**training: Any) -> Config:  # noqa: ANN401 - values of [training]
    return Config().over({"training": {**TRAINING, **training}, "runtime": {"device": "cpu"}}, "the test").validated()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, with a configuration that trains small on the JAX engine."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{name} = {value!r}" for name, value in TRAINING.items()]
    (tmp_path / "config.toml").write_text("\n".join(["[training]", *lines]), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def untrained() -> JaxTrainer:
    """A trainer that no test lets train, or takes back to its beginning."""
    return JaxTrainer("ground_truth", config())


@pytest.fixture
def trainer(untrained: JaxTrainer) -> Iterator[JaxTrainer]:
    learner, games = untrained._learner, untrained._games
    yield untrained
    untrained._learner, untrained._games = learner, games
    untrained.update = untrained.timesteps = 0


def in_torch(trainer: JaxTrainer) -> TorchTrainer:
    """The torch trainer with the weights and the games of this one's beginning."""
    twin = TorchTrainer("ground_truth", config())
    twin.learner.policy.load_state_dict(weights_of(trainer))
    return twin


def weights_of(trainer: JaxTrainer) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(np.array(leaf)) for name, leaf in trainer._learner.weights.items()}


def choose(twin: TorchTrainer, actions: NDArray[np.int32]) -> None:
    """Let the torch trainer's agents take these actions, (steps, games): the others are drawn with hardly a chance."""
    draws = iter(torch.nn.functional.one_hot(torch.tensor(actions).long(), 8))
    twin.player._exponential = lambda: 1e-20 ** next(draws).double()  # type: ignore[method-assign]


def test_both_trainers_make_the_same_updates_of_the_same_actions(trainer: JaxTrainer) -> None:
    """Rewards, looking ahead after truncations, advantages, PopArt, both critics' loss, the floor, clipping, Adam."""
    twin = in_torch(trainer)
    twin.player.games.state.steps += 500  # of 512: all that live on are truncated in the twelfth step
    games = trainer._games
    old = games.game.steps.low + jnp.uint32(500)
    late = games.game._replace(steps=games.game.steps._replace(low=old))
    trainer._games = games._replace(game=late, gained=games.gained._replace(steps=old.astype(jnp.int32)))
    seen: list[Any] = []
    play = trainer._programs.play

    def recorded(*given: Any) -> Any:  # noqa: ANN401 - of the program
        seen.append(play(*given))
        return seen[-1]

    trainer._programs = trainer._programs._replace(play=recorded)
    for number in range(3):
        updated = trainer.step()
        choose(twin, np.asarray(seen[-1][1].transition.action).reshape(STEPS, GAMES))
        wanted = twin.step()
        assert updated.episodes == [pytest.approx(row, abs=1e-4) for row in wanted.episodes]
        assert bool(updated.episodes) is (number == 0)
        assert set(updated.row) == set(wanted.row)
        for name, value in wanted.row.items():
            if isinstance(value, float) and name not in ("steps_per_second", "seconds_left"):
                assert updated.row[name] == pytest.approx(value, rel=2e-3, abs=1e-4), name
        for name, tensor in twin.learner.policy.state_dict().items():
            torch.testing.assert_close(weights_of(trainer)[name], tensor, rtol=1e-3, atol=2e-4, msg=name)
        assert updated.row["entropy_floor_penalty"] > 0.04
    trainer._programs = trainer._programs._replace(play=play)


def test_truncated_episodes_are_looked_ahead_from_and_those_of_the_dead_are_not(trainer: JaxTrainer) -> None:
    """Every game is truncated in the first step, and those dead by then have nothing to come."""
    games, before = trainer._games, trainer._learner
    game = games.game
    starving = np.arange(GAMES) < 4  # they have the energy for less than a step, and eat nothing
    energy = jnp.where(starving, 5, 1000).astype(jnp.uint32)
    late = game._replace(
        steps=game.steps._replace(low=jnp.full(GAMES, 511, jnp.uint32)),
        energy=game.energy._replace(low=energy),
        food=jnp.zeros_like(game.food),
        poison=jnp.zeros_like(game.poison),
    )
    player = before._replace(scale=before.scale._replace(mean=jnp.float32(100)))
    _, samples, (done, episode) = trainer._programs.play(player, games._replace(game=late), moment(0, 0))
    assert done[0].all()
    assert episode is not None
    assert episode.terminated[0].tolist() == starving.tolist()
    returns = np.asarray(samples.target).reshape(STEPS, GAMES)[0]
    np.testing.assert_allclose(returns[starving], -4.01, atol=1e-3)  # the price of death, and that of a step
    np.testing.assert_allclose(returns[~starving], -0.01 + 0.99 * 100, atol=3)


@pytest.mark.parametrize("privileged", [True, False])
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_is_the_same_in_both(kind: NetworkKind, privileged: bool) -> None:
    shape = NetworkConfig(kind, channels=(3, 4), hidden=8, privileged=privileged)
    drawn = network.initial_weights(shape, 1)
    policy = policy_of(shape, {name: torch.from_numpy(each) for name, each in drawn.items()})
    seen, known = torch.rand(5, 2, 11, 11), torch.rand(5, 244)
    logits, values = policy(seen, known)
    ours = network.evaluate(shape, drawn, seen.numpy(), known.numpy())  # type: ignore[arg-type]
    np.testing.assert_allclose(ours[0], logits.detach(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours[1], values.detach(), rtol=1e-4, atol=1e-5)


def library(*boards: jax.Array, cpu: object, default: Callable[..., jax.Array]) -> jax.Array:
    """What accelerators convolve with, here."""
    return default(*boards)


@pytest.mark.parametrize("accelerator", [False, True])
def test_convolutions_and_their_gradients_are_torchs(accelerator: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if accelerator:
        monkeypatch.setattr(jax.lax, "platform_dependent", library)
    shape, boards = NetworkConfig("cnn", channels=(3, 4), hidden=8), 130  # more than a CPU convolves at once
    drawn = network.initial_weights(shape, 1)
    seen, known, direction = (torch.rand(boards, *rest) for rest in ((2, 11, 11), (244,), (8,)))
    policy = policy_of(shape, {name: torch.from_numpy(each) for name, each in drawn.items()})
    (policy(seen, known)[0] * direction).mean().backward()

    def loss(weights: network.Weights) -> jax.Array:
        logits, _ = network.evaluate(shape, weights, jnp.asarray(seen), jnp.asarray(known))
        return (logits * jnp.asarray(direction)).mean()

    ours = jax.jit(jax.grad(loss))(drawn)
    for name, weight in policy.named_parameters():
        if name.startswith("body.conv"):
            assert weight.grad is not None
            np.testing.assert_allclose(ours[name], weight.grad, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_is_lowered_for_accelerators_that_are_not_here(kind: NetworkKind) -> None:
    shape = NetworkConfig(kind, channels=(3, 4), hidden=8)
    weights = network.initial_weights(shape, 1)

    def gradient(weights: network.Weights, seen: jax.Array, known: jax.Array) -> network.Weights:
        return jax.grad(lambda weights: network.evaluate(shape, weights, seen, known)[0].sum())(weights)

    lowered = export.export(jax.jit(gradient), platforms=("tpu", "cuda"))(
        weights, np.zeros((5, 2, 11, 11), np.float32), np.zeros((5, 244), np.float32)
    )
    assert ("stablehlo.convolution" in lowered.mlir_module()) == (kind == "cnn")


@pytest.mark.parametrize("kind", NETWORKS)
def test_weights_begin_as_torchs_do(kind: NetworkKind) -> None:
    shape = NetworkConfig(kind, channels=(3, 4), hidden=8)
    drawn, torchs = network.initial_weights(shape, 1), ActorCritic(shape).state_dict()
    for name, weight in torchs.items():
        ours = drawn[name].reshape(len(weight), -1)
        assert drawn[name].shape == weight.shape
        # rows or columns, whichever are fewer, are orthogonal and of the layer's length
        of = weight.flatten(1) if weight.dim() > 1 else weight[:, None]
        np.testing.assert_allclose(np.linalg.norm(ours), of.norm(), rtol=1e-5)
        np.testing.assert_allclose(np.linalg.svd(ours)[1], np.linalg.svd(of.numpy())[1], atol=1e-5)
    again, other = network.initial_weights(shape, 1), network.initial_weights(shape, 2)
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn)
    assert not np.array_equal(drawn["policy.weight"], other["policy.weight"])


def test_popart_is_that_of_torch() -> None:
    layer = nn.Linear(6, 1)
    weight, bias = (each.detach().numpy().copy() for each in (layer.weight, layer.bias))
    theirs, ours = PopArt(layer, 0.3), FIRST_SCALE
    for mean, variance in ((2.0, 9.0), (-50.0, 0.0), (1e3, 1e6), (0.0, 0.0), (1.0, 4.0)):
        theirs.follow(torch.tensor(mean), torch.tensor(variance))
        before, ours = ours, ours.following(np.float32(mean), np.float32(variance), 0.3)
        weight, bias = moved(weight, bias, before, ours)
        assert float(ours.mean) == pytest.approx(float(theirs.mean), rel=1e-5)
        assert float(ours.deviation) == pytest.approx(float(theirs.deviation), rel=1e-5)
        np.testing.assert_allclose(weight, layer.weight.detach(), rtol=1e-4)
        np.testing.assert_allclose(bias, layer.bias.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_G8_the_networks_are_shown_what_torch_shows_them(mode: Mode, trainer: JaxTrainer) -> None:
    theirs = Games(mode, GAMES)
    codes = theirs.start(game_keys(config().training.seed, GAMES))
    counts = torch.stack((theirs.state.food_count, theirs.state.poison_count), dim=1).to(torch.int16)
    seen, known = Inputs(mode, DEFAULT_NUMBERS, True, torch.device("cpu"))(codes, counts)
    assert known is not None
    ours = GoodhartsJaxEnv(mode)
    kept = jax.vmap(ours.compact)(trainer._games.game)
    np.testing.assert_array_equal(ours.expand(kept), seen)
    np.testing.assert_allclose(ours.privileges(kept), known, atol=1e-6)


def test_G10_a_run_begins_with_the_games_of_its_seed() -> None:
    seeds = GoodhartsJaxEnv(MODES["proxy"]).initial_seeds(2**40 + 3, 5)
    assert np.asarray(seeds).view(np.int32).tolist() == game_keys(2**40 + 3, 5).tolist()


def test_what_changes_over_a_run_compiles_nothing_anew(trainer: JaxTrainer) -> None:
    """The program of learning takes any rates: the first gradient steps are as long as the rate says."""
    now, before = moment(1, 0), trainer._learner
    _, samples, _ = trainer._programs.play(before, trainer._games, now)

    def moved(rate: float) -> float:
        rates = Rates(*(np.float32(each) for each in (0.2, 0.1, rate)))  # type: ignore[arg-type]
        after, _ = trainer._programs.learn(before, samples, rates, now)
        return float(np.abs(after.weights["policy.weight"] - before.weights["policy.weight"]).max())

    assert moved(0.0) == 0
    assert moved(0.002) == pytest.approx(2 * moved(0.001), rel=0.05)


def test_a_run_leaves_the_files_of_a_torch_run_and_a_resumed_one_is_the_run_without_a_break(
    capsys: pytest.CaptureFixture[str], trainer: JaxTrainer
) -> None:
    flags = ["--mode", "ground_truth", "--timesteps"]
    assert main([*flags, str(2 * GAMES * STEPS)]) == 0
    (log,) = Path("logs").glob("*_updates.csv")
    assert main([*flags, str(3 * GAMES * STEPS), "--resume"]) == 0
    assert "ground_truth: trained after update 3, 384 steps (" in capsys.readouterr().out
    kept = read_checkpoint(CHECKPOINT)
    # schedules end with the updates that are asked for, of which the first command knew of two alone
    rates = [rates_at(0, 2, config().training), rates_at(1, 2, config().training), rates_at(2, 3, config().training)]
    for update, now in enumerate(rates):
        trainer.config = replace(trainer.config, training=replace(trainer.config.training, updates=(2, 2, 3)[update]))
        assert trainer.step().row["learning_rate"] == now.learning_rate
    assert_same(kept.state, trainer.state())
    with log.open(encoding="utf-8") as file:
        assert [float(row["update"]) for row in csv.DictReader(file)] == [1, 2, 3]
    model = read_model(Path("models/ppo_ground_truth.pth"))
    assert (model.update, model.timesteps, model.config["training"]["engine"]) == (3, 384, "jax")
    seen = torch.rand(5, 2, 11, 11)
    wanted, _ = network.evaluate(trainer.network, trainer._learner.weights, seen.numpy(), np.zeros((5, 244)))  # type: ignore[arg-type]
    np.testing.assert_allclose(model.policy.logits(seen).detach(), wanted, rtol=1e-4, atol=1e-5)
    assert evaluate_main(["--mode", "ground_truth", "--games", "2", "--steps", "3"]) == 0


def assert_same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for part, tensors in wanted.items():
        assert set(found[part]) == set(tensors)
        for name, tensor in tensors.items():
            assert torch.equal(found[part][name], tensor), name


def test_what_a_model_says_is_in_units_of_reward(trainer: JaxTrainer) -> None:
    trainer.step()
    scale = trainer._learner.scale
    assert scale.deviation != 1
    seen, known = torch.rand(5, 2, 11, 11), torch.rand(5, 244)
    _, values = trainer.model().policy(seen, known)
    _, scaled = network.evaluate(trainer.network, trainer._learner.weights, seen.numpy(), known.numpy())  # type: ignore[arg-type]
    np.testing.assert_allclose(values.detach(), scale.values(scaled), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("began", ["torch", "jax"])
def test_a_run_goes_on_with_the_engine_that_it_began_with(
    began: str, trainer: JaxTrainer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--engine", began, "--updates", "1"]) == 0
    other = "jax" if began == "torch" else "torch"
    capsys.readouterr()
    assert main(["--engine", other, "--updates", "2", "--resume"]) == 2
    said = f"{CHECKPOINT} was left by --engine {began}: go on with that, or begin anew with {other}.\n"
    assert capsys.readouterr().err == said
    if began == "torch":
        with pytest.raises(UsageError, match="was left by --engine torch, which jax cannot go on from"):
            restore(trainer, read_checkpoint(CHECKPOINT))


def test_what_does_not_fit_a_run_is_refused(trainer: JaxTrainer) -> None:
    state = trainer.state()

    def refused(part: str, name: str, tensor: torch.Tensor | None) -> str:
        changed = {**state[part], name: tensor}
        with pytest.raises(Unreadable) as caught:
            trainer.restore(1, 128, {**state, part: changed})
        return str(caught.value)

    weight = ".weights['value.weight']"
    assert refused("learner", "more", None) == "its network and optimizer are those of other settings"
    assert refused("learner", weight, None) == f"its {weight} is no tensor"
    assert refused("learner", weight, torch.zeros(1, 8)) == f"its {weight} is of shape (1, 8), not (1, 16)"
    assert "is not finite" in refused("learner", weight, torch.full((1, 16), torch.nan))
    assert "PopArt" in refused("learner", ".scale.deviation", torch.tensor(0.0))
    said = refused("games", ".game.x", torch.full((GAMES,), 128, dtype=torch.int32))
    assert said.startswith("its game 0 is against the rules (x must be a whole number in 0 … 127")


@pytest.mark.parametrize(
    ("flags", "environment", "said"),
    [
        (["--compile-mode", "max-autotune"], {}, "--compile-mode is torch's: leave it out, --engine jax compiles in"),
        (["--device", "cuda"], {}, "JAX has no device cuda here: there is "),
        ([], {"WORLD_SIZE": "2"}, "torchrun is for --engine torch: start --engine jax without it, in one process."),
    ],
)
def test_what_this_engine_cannot_do_is_one_sentence(
    flags: list[str],
    environment: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["--updates", "1", *flags]) == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1


def test_matrix_products_are_in_bfloat16_where_devices_gain_by_it() -> None:
    assert [precision_on("cpu", True), precision_on("gpu", True), precision_on("gpu", False)] == [
        "float32",
        "bfloat16",
        "float32",
    ]


def test_training_waits_for_no_torch() -> None:
    """It takes seconds to import, and is not needed before files are written; nor are Flax and distrax ever."""
    script = "import goodharts.training.train_ppo, goodharts.training.session, goodharts.training.jax_ppo.trainer, sys"
    loaded = "print([name for name in ('torch', 'flax', 'distrax') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", f"{script}; {loaded}"], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
