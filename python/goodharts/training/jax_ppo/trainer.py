"""The trainer on the JAX engine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from goodharts.architecture import network_config
from goodharts.config import JAX, Config
from goodharts.jax_env import state_dict
from goodharts.jax_training import GoodhartsJaxEnv
from goodharts.models import Model, policy_of
from goodharts.rules import ACTIONS, MODES
from goodharts.training.jax_ppo.network import initial_weights
from goodharts.training.jax_ppo.programs import Ended, Learner, Playing, compiled, first_learner, moment, rescaled
from goodharts.training.rates import Rates
from goodharts.training.trainer import Learned, Seconds, Trainer
from parity.errors import StateRefused
from parity.reading import Unreadable, is_object
from worldkit.jax.env import JaxEnv
from worldkit.ppo.masked_ppo import Rates as LearningRates
from worldkit.ppo.value_heads import FIRST_SCALE

_CPU = "cpu"


def precision_on(platform: str, amp: bool) -> str:
    """What matrix products are computed in: XLA emulates bfloat16 on CPUs, which is slower than float32."""
    return "bfloat16" if amp and platform != _CPU else "float32"


class JaxTrainer(Trainer):
    """Trains one mode on JAX's default device.

    Args:
        mode: its name. config: the settings; ``config.training.updates`` is where schedules end.
        env: the games; by default those of the mode.
    """

    engine = JAX

    def __init__(self, mode: str, config: Config, env: JaxEnv | None = None) -> None:
        platform = jax.default_backend()
        super().__init__(mode, config, network_config(config.training, on_cpu=platform == _CPU))
        self._dtype = precision_on(platform, config.runtime.amp)
        self._learner: Learner = first_learner(initial_weights(self.network, config.training.seed))
        env = env or GoodhartsJaxEnv(MODES[mode], config.numbers())
        self._programs = compiled(env, config.training, self.network, self._dtype, self._learner)
        self._games: Playing = self._programs.games

    @property
    def parameters(self) -> int:
        return sum(each.size for each in self._learner.weights.values())

    @cached_property
    def place(self) -> str:
        (device,) = self._games.game.x.devices()
        return _CPU if device.platform == _CPU else f"{device} ({device.device_kind})"

    @property
    def precision(self) -> str:
        return self._dtype

    @property
    def versions(self) -> Mapping[str, str]:
        return {"jax": jax.__version__}

    def model(self) -> Model:
        learner = self._learner
        in_reward = rescaled(learner.weights, learner.scale, FIRST_SCALE)
        weights = {name: _tensor(each) for name, each in in_reward.items()}
        policy = policy_of(self.network, weights)
        return Model(self.mode.name, self.network, self.config.plain(), self.update, self.timesteps, policy)

    def state(self) -> dict[str, Any]:
        learner, games = (_named(each) for each in (self._learner, self._games))
        return {
            "learner": {name: _tensor(leaf) for name, leaf in learner.items()},
            "games": {name: _tensor(leaf) for name, leaf in games.items()},
        }

    def restore(self, update: int, timesteps: int, state: Mapping[str, Any]) -> None:
        learner = _like(self._learner, state.get("learner"), "network and optimizer")
        kept = state.get("games")
        if is_object(kept) and ".gained.steps" not in kept:  # as in files of earlier versions
            kept = {**kept, ".gained.steps": kept.get(".game.steps.low")}
        games = _like(self._games, kept, "games")
        if not learner.scale.deviation > 0:
            raise Unreadable("its PopArt statistics are no numbers")
        for number in range(self.config.training.n_envs):
            game = jax.tree.map(lambda leaf, number=number: leaf[number], games.game)
            try:
                state_dict.from_dict(state_dict.to_dict(game))  # refuses what could not be played
            except StateRefused as refusal:
                raise Unreadable(f"its game {number} is against the rules ({str(refusal)[:-1]})") from None
        self._learner, self._games = learner, games
        self.update, self.timesteps = update, timesteps

    def _play_and_learn(self, rates: Rates) -> tuple[Learned, list[tuple[float, ...]], Seconds]:
        begun = time.perf_counter()
        now, learner = moment(self.config.training.seed, self.update), self._learner
        self._games, samples, ended = self._programs.play(learner, self._games, now)
        finished = _finished(jax.device_get(ended))  # waits for the device
        played = time.perf_counter()
        numbers = (np.float32(rate) for rate in (rates.clip_eps, rates.entropy_coef, rates.learning_rate))
        self._learner, stats = self._programs.learn(learner, samples, LearningRates(*numbers), now)  # type: ignore[arg-type]
        means: Any = jax.tree.map(float, jax.device_get(stats))
        told = dict(means.diagnostics)
        learned = Learned(
            policy_loss=means.pg_loss,
            value_loss=2 * means.value_loss,  # of half the squared error
            entropy=means.entropy,
            approx_kl=means.approx_kl,
            clip_fraction=means.clip_frac,
            action_probs=[told.pop(f"action_prob_{action}") for action in range(len(ACTIONS))],
            **told,
        )
        return learned, finished, Seconds(played - begun, time.perf_counter() - played)


def _finished(ended: Ended) -> list[tuple[float, ...]]:
    """The episodes that ended in a rollout, with the columns ``EPISODE``."""
    done, each = ended
    steps, games = np.nonzero(done)
    assert each is not None
    told = (each.length, each.episode_return, *each.event_counts.values(), each.terminated)
    columns = (steps, games, *(np.asarray(values)[steps, games] for values in told))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _named(tree: Any) -> dict[str, Any]:  # noqa: ANN401 - a tree
    """The leaves of a tree by their paths."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _tensor(leaf: Any) -> Any:  # noqa: ANN401 - an array of JAX or numpy, and a tensor
    """The same numbers as a tensor; torch computes little with uint32, so words are int32 with the same bits."""
    import torch  # here, where files are made of it: nothing before that waits for it

    array = np.array(leaf)
    return torch.from_numpy(array.view(np.int32) if array.dtype == np.uint32 else array)


def _like(tree: Any, kept: object, what: str) -> Any:  # noqa: ANN401 - a tree
    """A tree like this one of what a file keeps; raises Unreadable where that is something else."""
    wanted = _named(tree)
    if not is_object(kept) or set(kept) != set(wanted):
        raise Unreadable(f"its {what} are those of other settings")
    leaves = [_array(kept[name], leaf, name) for name, leaf in wanted.items()]
    return jax.tree.unflatten(jax.tree.structure(tree), leaves)


def _array(kept: Any, wanted: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - of a file, and an array
    import torch

    if not isinstance(kept, torch.Tensor) or kept.layout != torch.strided:
        raise Unreadable(f"its {name} is no tensor")
    if tuple(kept.shape) != wanted.shape:
        raise Unreadable(f"its {name} is of shape {tuple(kept.shape)}, not {wanted.shape}")
    array: NDArray[Any] = kept.numpy()
    if array.dtype == np.int32 and wanted.dtype == np.uint32:
        array = array.view(np.uint32)
    if array.dtype != wanted.dtype or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise Unreadable(f"its {name} is not finite and of {wanted.dtype}")
    return array
