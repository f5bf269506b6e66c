"""Training in JAX: worldkit's trainer with Goodharts' settings and outputs, on one device or several."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from goodharts.architecture import NetworkConfig, network_config
from goodharts.config import AUTO, OFF, Config, Training
from goodharts.models import Model, policy_of
from goodharts.rules import MODES
from goodharts.training.engine import Engine, out_of_memory
from goodharts.training.runs import EPISODE, ModeRun
from goodharts.training.torchrun import is_launched
from parity.errors import ParityError, UsageError, is_out_of_memory
from worldkit.jax.xla import threads_of_a_share
from worldkit.ppo.config import BATCH, RELU, UPDATES, TrainConfig
from worldkit.ppo.value_heads import POPART

if TYPE_CHECKING:
    import jax

    from worldkit.ppo.checkpoints import Progress
    from worldkit.ppo.masked_ppo import EpisodeInfo
    from worldkit.ppo.params import Params

_CPU = "cpu"


class JaxEngine(Engine):
    """Trains in JAX."""

    def check(self, config: Config) -> None:
        if is_launched():
            raise UsageError("torchrun is for --engine torch: start --engine jax without it, in one process.")
        if config.runtime.compile_mode != OFF:
            raise UsageError("--compile-mode is torch's: leave it out, --engine jax compiles in any case.")
        if config.runtime.device not in (AUTO, _CPU):
            _devices(config.runtime.device)

    def share_cores(self, processes: int) -> None:
        os.environ.update(threads_of_a_share(processes))
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several processes share a GPU's memory

    def train(self, run: ModeRun) -> None:
        job, config = run.job, run.job.config
        self.check(config)
        import jax

        from goodharts.jax_networks import torch_weights
        from goodharts.jax_training import env_of
        from worldkit.ppo.loop import SavePlan
        from worldkit.ppo.training import train

        devices = _devices(config.runtime.device)
        platform = devices[0].platform
        network = network_config(config.training, on_cpu=platform == _CPU)
        dtype = precision_on(platform, config.runtime.amp)
        run.about = {
            "network": {"kind": network.kind},
            "engine": "jax",
            "device": ", ".join(map(str, devices)),
            "precision": dtype,
            "processes": 1,
            "versions": {"jax": jax.__version__},
        }

        def write_model(params: Params, progress: Progress) -> None:
            policy = policy_of(network, {name: _tensor(each) for name, each in torch_weights(network, params).items()})
            run.write_model(Model(job.mode, network, config.plain(), progress.updates, progress.timesteps, policy))

        with jax.default_device(devices[0]):
            trained = train(
                train_config(config.training, network, dtype),
                env_of(MODES[job.mode], config.numbers()),
                run.run,
                start=job.start.state if job.start else None,
                save_plan=SavePlan(
                    every_minutes=config.runtime.checkpoint_minutes,
                    checkpoint=run.checkpoint,
                    agent=(run.model, write_model),
                ),
                devices=devices,
                notes={"mode": job.mode, "goodharts": config.plain()},
                on_episodes=lambda update, episodes: run.write_episodes(update, _finished(episodes)),
            )
        run.about["network"]["parameters"] = sum(leaf.size for leaf in jax.tree.leaves(trained.params))

    def explained(self, error: Exception, mode: str) -> ParityError | None:
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        return out_of_memory(mode, "the device") if is_out_of_memory(cause) else None


def precision_on(platform: str, amp: bool) -> str:
    """What the hidden layers compute in: XLA emulates bfloat16 on CPUs, which is slower than float32."""
    return "bfloat16" if amp and platform != _CPU else "float32"


def train_config(training: Training, network: NetworkConfig, dtype: str = "float32") -> TrainConfig:
    """The settings as worldkit has them."""
    from goodharts.jax_networks import num_layers

    return TrainConfig(
        num_envs=training.n_envs,
        num_steps=training.steps_per_env,
        total_timesteps=training.updates * training.n_envs * training.steps_per_env,
        learning_rate=training.learning_rate,
        learning_rate_end=training.learning_rate_final,
        learning_rate_steps=UPDATES,
        gamma=training.gamma,
        gae_lambda=training.gae_lambda,
        num_minibatches=training.minibatches,
        update_epochs=training.k_epochs,
        clip_eps=training.eps_clip,
        clip_eps_end=training.eps_clip_final,
        clip_value_loss=False,
        vf_coef=2 * training.value_coef,  # of half the squared error
        ent_coef=training.entropy_initial,
        ent_coef_end=training.entropy_final,
        entropy_floor=training.entropy_floor,
        entropy_floor_coef=training.entropy_floor_coef,
        max_grad_norm=training.max_grad_norm,
        normalize_advantage=BATCH,
        network=network.kind,
        hidden_dim=network.hidden,
        num_layers=num_layers(network.kind),
        activation=RELU,
        dtype=dtype,
        value_head=POPART,
        popart_beta=training.popart_beta,
        privileged_critic=network.privileged,
        diagnostics=True,
        log_interval=1,
        seed=training.seed,
    )


def _finished(episodes: EpisodeInfo) -> list[tuple[float, ...]]:
    """The episodes that ended in a rollout, with the columns ``EPISODE``."""
    import numpy as np

    steps, games = np.nonzero(episodes.done)
    columns = (episodes.length, episodes.episode_return, *episodes.event_counts.values(), episodes.terminated)
    assert len(columns) == len(EPISODE) - 2
    ended = (np.asarray(column)[steps, games].tolist() for column in columns)
    return list(zip(steps.tolist(), games.tolist(), *ended, strict=True))


def _tensor(array: Any) -> Any:  # noqa: ANN401 - an array of numpy, and a tensor
    import torch  # here, where files are made of it: nothing before that waits for it

    return torch.from_numpy(array)


def _devices(name: str) -> list[jax.Device]:
    """JAX's devices of this name: all of a kind, or the one with a number.

    Raises UsageError that says what there is, where it is missing.
    """
    import jax

    if name == AUTO:
        return jax.devices()
    kind, _, number = name.partition(":")
    try:
        return [jax.devices(kind)[int(number)]] if number else jax.devices(kind)
    except (RuntimeError, IndexError):
        there = ", ".join(str(device) for device in jax.devices())
        raise UsageError(f"JAX has no device {name} here: there is {there}.") from None
