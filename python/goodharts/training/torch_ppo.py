"""Training with torch: alone, or as one of the processes that ``torchrun`` started."""

import copy
import dataclasses
import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray

from goodharts.architecture import network_config
from goodharts.config import Config
from goodharts.devices import choose_device, describe, prepare
from goodharts.models import Model, write_model
from goodharts.rules import MODES
from goodharts.torch_env import state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import keys_of
from goodharts.torch_env.state import State
from goodharts.training.jobs import BEGIN_ANEW, Job, write_checkpoint
from goodharts.training.parallel import ALONE, Processes, joined
from goodharts.training.ppo import NOISE, Learner, rescale, stream
from goodharts.training.rollout import Player
from goodharts.training.runs import TakeEpisodes
from goodharts.world import game_seeds
from rlparity.errors import UsageError
from rlparity.io.safe_read import Unreadable
from rlworldkit.ppo.value_heads import FIRST_SCALE
from rlworldkit.runs.folder import BEGAN, now
from rlworldkit.runs.run import Progress, Run, TrainingDiverged
from rlworldkit.runs.sinks import Metrics

_RETRY_SECONDS = 60.0
"""Seconds until a failed save is retried."""
_GAMES, _TOTALS, _NOISE = ".games.", ".totals", ".noise."
"""Names or prefixes of a checkpoint's arrays besides the learner's; the noise's name ends in a device type."""


class UpdateResult(NamedTuple):
    """Result of an update of all processes: metrics by rlworldkit's names, episodes with the columns ``EPISODE``."""

    metrics: Metrics
    episodes: Sequence[Sequence[float]]


class TorchTrainer:
    """Trainer of one mode, update by update, without files; its schedules end with the config's updates.

    processes: the processes that train the same network, each with a share of the games. progress: how far it is.
    Raises UsageError where the processes cannot share the games or the batch evenly.
    """

    def __init__(
        self, mode: str, config: Config, device: torch.device | str = "cpu", processes: Processes = ALONE
    ) -> None:
        self.mode, self.config, self.device = MODES[mode], config, torch.device(device)
        self.network = network_config(config.training, on_cpu=self.device.type == "cpu")
        self.progress = Progress()
        self._processes = processes
        self.learner = Learner(self.mode, config, self.network, self.device, processes)
        training = config.training
        share = processes.share(training.n_envs)
        if len(share) * training.steps_per_env % training.minibatches:
            raise UsageError(
                f"{processes.count} processes cannot split the batch into {training.minibatches} minibatches evenly: "
                "give fewer in config.toml."
            )
        prices = config.price_values(mode)
        games = Games(self.mode, len(share), numbers=config.numbers(), device=self.device, prices=prices)
        games.start(keys_of(game_seeds(training.seed, training.n_envs)[share.start : share.stop]).to(self.device))
        noise = torch.Generator(self.device).manual_seed(stream(training.seed, NOISE))
        self.player = Player(games, noise, share, training.n_envs)

    def about(self) -> dict[str, Any]:
        """Description of the trainer for ``_summary.json``."""
        weights = sum(each.numel() for each in self.learner.policy.parameters())
        return {
            "network": {"kind": self.network.kind, "parameters": weights},
            "engine": "torch",
            "device": describe(self.device),
            "precision": str(self.learner.precision or torch.float32).removeprefix("torch."),
            "processes": self._processes.count,
            "versions": {"torch": torch.__version__},
        }

    def step(self) -> UpdateResult:
        """Run one update: play, then learn. Raises TrainingDiverged where a loss is NaN or infinite."""
        began, training, (updates, timesteps, seconds) = time.perf_counter(), self.config.training, self.progress
        rollout = self.player.play(training.steps_per_env, self.learner.judge)
        shares = self._processes.gathered(rollout.episodes.cpu().tolist())
        stats = self.learner.learn(rollout, training.rates(updates))
        taken = time.perf_counter() - began
        episodes = [episode for share in shares for episode in share]
        self.progress = Progress(updates + 1, timesteps + self.config.batch_size, seconds + taken)
        if not all(math.isfinite(stats[name]) for name in ("pg_loss", "value_loss", "grad_norm")):
            raise TrainingDiverged(
                f"Training {self.mode.name} diverged in update {updates + 1}: the loss is no longer a number; start "
                "again with a lower learning_rate."
            )
        metrics = {
            "update": self.progress.updates,
            "timesteps": self.progress.timesteps,
            "seconds": self.progress.seconds,
            "steps_per_second": self.config.batch_size / taken,
            "train/mean_episode_return": _mean([reward for _, _, _, reward, *_ in episodes]),
            "train/mean_episode_length": _mean([length for _, _, length, *_ in episodes]),
            "train/num_episodes": len(episodes),
            **{f"train/{name}": number for name, number in stats.items()},
        }
        return UpdateResult(metrics, episodes)

    def model(self) -> Model:
        """The agent as it is now; its values are in units of reward."""
        policy = copy.deepcopy(self.learner.policy).cpu()
        rescale(policy.value, self.learner.scale, FIRST_SCALE)
        updates, timesteps, _ = self.progress
        return Model(self.mode.name, self.config.plain(), updates, timesteps, policy)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is needed to resume training, by name; all processes have to call this together."""
        state = self.player.games.state
        own = {f"{_GAMES}{each.name}": getattr(state, each.name).cpu() for each in dataclasses.fields(state)}
        gathered = self._processes.gathered({**own, _TOTALS: self.player.totals.cpu()})
        tensors = {name: torch.cat([share[name] for share in gathered]) for name in gathered[0]}
        tensors[f"{_NOISE}{self.device.type}"] = self.player.noise.get_state()
        return {name: tensor.cpu().numpy() for name, tensor in (self.learner.tensors() | tensors).items()}

    def restore(self, start: Job) -> None:
        """Resume from a checkpoint of ``--engine torch``; raises UsageError where the checkpoint is damaged.

        Exact on the same kind of device; on another kind, actions are drawn from a new stream of random numbers.
        """
        try:
            self._restore(start)
        except Unreadable as fault:
            raise UsageError(f"{start.checkpoint} cannot be used: {fault}; {BEGIN_ANEW}.") from None
        except Exception as error:  # damaged values can raise any exception
            raise UsageError(f"{start.checkpoint} is damaged ({type(error).__name__}): {BEGIN_ANEW}.") from None
        self.progress = start.progress

    def _restore(self, start: Job) -> None:
        player, tensors = self.player, {name: torch.tensor(array) for name, array in start.arrays.items()}
        self.learner.restore(tensors)
        fields = {name.removeprefix(_GAMES): each for name, each in tensors.items() if name.startswith(_GAMES)}
        # through the dicts of the rules, which refuse impossible states
        games = state_dict.from_dicts(state_dict.to_dicts(State(**fields)), self.device)
        if len(games.x) != player.of or tensors[_TOTALS].shape != (player.of, player.totals.shape[1]):
            raise Unreadable(f"it holds {len(games.x)} games, not {player.of}")
        own = torch.arange(player.share.start, player.share.stop, device=self.device)
        player.codes = player.games.put(torch.arange(len(own), device=self.device), games.rows(own))
        player.totals = tensors[_TOTALS].to(self.device)[own]
        if (noise := tensors.get(f"{_NOISE}{self.device.type}")) is not None:
            player.noise.set_state(noise)
        else:
            player.noise.manual_seed(stream(self.config.training.seed, NOISE, start.progress.updates))


def check(config: Config) -> None:
    """Raise UsageError where the device does not exist."""
    choose_device(config.runtime.device)


def train(job: Job, run: Run, take_episodes: TakeEpisodes) -> dict[str, Any]:
    """Train, and save every ``checkpoint_minutes`` and at the end; every process of the run calls this."""
    config, after = job.config, job.progress.updates
    device = choose_device(config.runtime.device)
    prepare(device)
    with joined(device) as processes:
        trainer = TorchTrainer(job.mode, config, device, processes)
        if after:
            trainer.restore(job)
        if not processes.any(run.stop.requested):
            settings = {"run_name": job.name, BEGAN: now(), **job.notes()}
            run.begin(settings, job.total_timesteps, after=after, is_resumed=after > 0)
        interval = 60 * config.runtime.checkpoint_minutes
        due, is_saved = time.monotonic() + interval, True
        while trainer.progress.updates < config.training.updates and not processes.any(run.stop.requested):
            updated = trainer.step()
            run.stop.begun()
            is_saved = False
            if processes.rank == 0:
                take_episodes(trainer.progress.updates, updated.episodes)
                run.write(updated.metrics)
            if processes.gathered(time.monotonic() >= due)[0]:  # clocks differ, so the first process decides
                is_saved = _save(trainer, job, run)
                due = time.monotonic() + (interval if is_saved else min(interval, _RETRY_SECONDS))
        if not is_saved:
            _save(trainer, job, run)
        return trainer.about()


def _save(trainer: TorchTrainer, job: Job, run: Run) -> bool:
    """Save the checkpoint and the model, unless this process writes no files; returns whether it succeeded."""
    state = dataclasses.replace(job, progress=trainer.progress, arrays=trainer.arrays())
    if not run.folder:
        return True
    is_saved = run.writer.attempt(job.checkpoint, partial(write_checkpoint, state))
    return run.writer.attempt(job.model, lambda: write_model(job.model, trainer.model())) and is_saved


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan
