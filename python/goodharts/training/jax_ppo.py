"""Training in JAX: rlworldkit's trainer with Goodharts' settings and outputs, on one device or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodharts.architecture import NetworkConfig, network_config
from goodharts.config import AUTO, OFF, Config, Training
from goodharts.training.jobs import Job
from goodharts.training.runs import EPISODE, TakeEpisodes
from goodharts.training.torchrun import is_launched
from rlparity.errors import UsageError
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.value_heads import POPART
from rlworldkit.runs.run import Run

if TYPE_CHECKING:
    import jax

    from rlworldkit.ppo.params import Params
    from rlworldkit.ppo.state import EpisodeInfo
    from rlworldkit.runs.run import Progress

_CPU = "cpu"
_HIDDEN_LAYERS = {"cnn": 1, "mlp": 2}
"""Number of hidden layers after the encoder, if there is one."""
_SAME = ("learning_rate", "gamma", "gae_lambda", "max_grad_norm", "entropy_floor", "entropy_floor_coef", "popart_beta")
"""Settings of the same name and meaning in rlworldkit."""


def check(config: Config) -> None:
    """Raise UsageError for ``torchrun``, ``--compile-mode`` or a device that JAX does not have."""
    if is_launched():
        raise UsageError("torchrun is for --engine torch: start --engine jax without it, in one process.")
    if config.runtime.compile_mode != OFF:
        raise UsageError("--compile-mode is torch's: leave it out, --engine jax compiles in any case.")
    if config.runtime.device not in (AUTO, _CPU):
        _devices(config.runtime.device)


def train(job: Job, run: Run, take_episodes: TakeEpisodes) -> dict[str, Any]:
    """Train on all devices of the kind that the settings name, or on one device given by number, and save."""
    import jax

    from goodharts.env import env_by
    from goodharts.networks import torch_weights
    from rlworldkit.ppo.loop import Saver
    from rlworldkit.ppo.training import train as train_in_jax

    config = job.config
    devices = _devices(config.runtime.device)
    platform = devices[0].platform
    network = network_config(config.training, on_cpu=platform == _CPU)
    dtype = precision_on(platform, config.runtime.amp)

    def write_agent(params: Params, progress: Progress) -> None:
        import torch  # here: it takes seconds to import, and is not needed before the first file

        from goodharts.models import Model, policy_of, write_model

        weights = {name: torch.from_numpy(each) for name, each in torch_weights(network, params).items()}
        policy = policy_of(network, weights)
        write_model(job.model, Model(job.mode, config.plain(), progress.updates, progress.timesteps, policy))

    with jax.default_device(devices[0]):
        trained = train_in_jax(
            train_config(config.training, network, dtype),
            env_by(config, job.mode),
            run,
            start=job.state,
            saver=Saver(
                every_minutes=config.runtime.checkpoint_minutes,
                checkpoint=job.checkpoint,
                agent=(job.model, write_agent),
            ),
            devices=devices,
            notes=job.notes(),
            on_episodes=lambda update, episodes: take_episodes(update, _finished(episodes)),
        )
    return {
        "network": {"kind": network.kind, "parameters": sum(leaf.size for leaf in jax.tree.leaves(trained.params))},
        "engine": "jax",
        "device": ", ".join(map(str, devices)),
        "precision": dtype,
        "processes": 1,
        "versions": {"jax": jax.__version__},
    }


def precision_on(platform: str, amp: bool) -> str:
    """Return the dtype of the hidden layers: XLA emulates bfloat16 on CPUs, which is slower than float32."""
    return "bfloat16" if amp and platform != _CPU else "float32"


def train_config(training: Training, network: NetworkConfig, dtype: str = "float32") -> TrainConfig:
    """Convert the settings to those of rlworldkit."""
    return TrainConfig(
        num_envs=training.n_envs,
        num_steps=training.steps_per_env,
        total_timesteps=training.updates * training.n_envs * training.steps_per_env,
        learning_rate_end=training.learning_rate_final,
        learning_rate_steps="updates",
        num_minibatches=training.minibatches,
        update_epochs=training.k_epochs,
        clip_eps=training.eps_clip,
        clip_eps_end=training.eps_clip_final,
        clip_value_loss=False,
        vf_coef=2 * training.value_coef,  # of half the squared error
        ent_coef=training.entropy_initial,
        ent_coef_end=training.entropy_final,
        normalize_advantage="batch",
        network=network.kind,
        hidden_dim=network.hidden,
        num_layers=_HIDDEN_LAYERS[network.kind],
        activation="relu",
        dtype=dtype,
        value_head=POPART,
        privileged_critic=network.privileged,
        diagnostics=True,
        log_interval=1,
        seed=training.seed,
        **{name: getattr(training, name) for name in _SAME},
    )


def _finished(episodes: EpisodeInfo) -> list[tuple[float, ...]]:
    """The episodes that ended in a rollout, with the columns ``EPISODE``."""
    import numpy as np

    steps, games = np.nonzero(episodes.done)
    columns = (episodes.length, episodes.episode_return, *episodes.event_counts.values(), episodes.terminated)
    assert len(columns) == len(EPISODE) - 2
    ended = (np.asarray(column)[steps, games].tolist() for column in columns)
    return list(zip(steps.tolist(), games.tolist(), *ended, strict=True))


def _devices(name: str) -> list[jax.Device]:
    """JAX's devices of a name, such as ``cuda`` or ``cuda:1``; raises UsageError that lists the devices."""
    import jax

    if name == AUTO:
        return jax.devices()
    kind, _, number = name.partition(":")
    try:
        return [jax.devices(kind)[int(number)]] if number else jax.devices(kind)
    except (RuntimeError, IndexError):
        there = ", ".join(str(device) for device in jax.devices())
        raise UsageError(f"JAX has no device {name} here: there is {there}.") from None
