"""Training with torch: alone, or as one of the processes that ``torchrun`` started."""

import copy
import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from goodharts.architecture import network_config
from goodharts.config import Config
from goodharts.devices import choose_device, describe, prepare
from goodharts.models import Model, write_model, write_torch
from goodharts.rules import MODES
from goodharts.torch_env import random, state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.state import State
from goodharts.training.checkpoints import BEGIN_ANEW, FORMAT, KIND, Checkpoint
from goodharts.training.parallel import ALONE, Processes, joined
from goodharts.training.ppo import NOISE, Learner, rescale, stream
from goodharts.training.rollout import Player
from goodharts.training.runs import ModeRun
from goodharts.training.torchrun import local_rank
from rlparity.errors import UsageError
from rlparity.io.safe_read import Unreadable
from rlworldkit.ppo.value_heads import FIRST_SCALE
from rlworldkit.runs.run import TrainingDiverged
from rlworldkit.runs.sinks import Metrics

_RETRY_SECONDS = 60.0
"""When a save that failed is tried again."""


class UpdateResult(NamedTuple):
    """Result of an update of all processes: metrics by rlworldkit's names, episodes with the columns ``EPISODE``."""

    metrics: Metrics
    episodes: Sequence[Sequence[float]]


class TorchTrainer:
    """Trains one mode, update by update, in memory alone, with schedules that end with the config's updates.

    processes: those that train the same network, each with its share of the games. update, timesteps, seconds: how many
    there were. Raises UsageError where the games or the batch cannot be shared by the processes.
    """

    def __init__(
        self, mode: str, config: Config, device: torch.device | str = "cpu", processes: Processes = ALONE
    ) -> None:
        self.mode, self.config, self.device = MODES[mode], config, torch.device(device)
        self.network = network_config(config.training, on_cpu=self.device.type == "cpu")
        self.update = self.timesteps = 0
        self.seconds = 0.0
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
        games.start(random.game_keys(training.seed, training.n_envs)[share.start : share.stop].to(self.device))
        noise = torch.Generator(self.device).manual_seed(stream(training.seed, NOISE))
        self.player = Player(games, noise, share, training.n_envs)

    def about(self) -> dict[str, Any]:
        """The trainer as ``_summary.json`` describes it."""
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
        """One update: play, then learn. Raises TrainingDiverged where a loss is no longer a number."""
        began, training = time.perf_counter(), self.config.training
        rollout = self.player.play(training.steps_per_env, self.learner.judge)
        shares = self._processes.gathered(rollout.episodes.cpu().tolist())
        stats = self.learner.learn(rollout, training.rates(self.update))
        seconds = time.perf_counter() - began
        episodes = [episode for share in shares for episode in share]
        self.update += 1
        self.timesteps += self.config.batch_size
        self.seconds += seconds
        if not all(math.isfinite(stats[name]) for name in ("pg_loss", "value_loss", "grad_norm")):
            raise TrainingDiverged(
                f"Training {self.mode.name} diverged in update {self.update}: the loss is no longer a number; start "
                "again with a lower learning_rate."
            )
        metrics = {
            "update": self.update,
            "timesteps": self.timesteps,
            "seconds": self.seconds,
            "steps_per_second": self.config.batch_size / seconds,
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
        return Model(self.mode.name, self.network, self.config.plain(), self.update, self.timesteps, policy)

    def checkpoint(self, name: str) -> dict[str, Any]:
        """The file that a run of this name goes on from; every process takes part in making it."""
        return {
            "format": FORMAT,
            "kind": KIND,
            "mode": self.mode.name,
            "name": name,
            "network": self.network.plain(),
            "config": self.config.plain(),
            "update": self.update,
            "timesteps": self.timesteps,
            "seconds": self.seconds,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Everything that training goes on from, of all processes together: plain values and tensors on the CPU."""
        state = self.player.games.state
        own = {each.name: getattr(state, each.name).cpu() for each in dataclasses.fields(state)}
        gathered = self._processes.gathered({**own, "totals": self.player.totals.cpu()})
        return {
            **_on_cpu(self.learner.state()),
            "games": {name: torch.cat([share[name] for share in gathered]) for name in gathered[0]},
            "noise": self.player.noise.get_state(),
            "device": self.device.type,
        }

    def restore(self, start: Checkpoint) -> None:
        """Go on from a checkpoint of ``--engine torch``; raises UsageError where that is damaged.

        Exact on the same kind of device; on another one actions are drawn from a stream of their own from here on.
        """
        try:
            self._restore(start.update, start.state)
        except Unreadable as fault:
            raise UsageError(f"{start.path} cannot be used: {fault}; {BEGIN_ANEW}.") from None
        except Exception as error:  # damaged values fail in every way there is
            raise UsageError(f"{start.path} is damaged ({type(error).__name__}): {BEGIN_ANEW}.") from None
        self.update, self.timesteps, self.seconds = start.update, start.timesteps, start.seconds

    def _restore(self, update: int, state: Mapping[str, Any]) -> None:
        self.learner.restore(state)
        player, kept = self.player, dict(state["games"])
        totals = kept.pop("totals")
        # through the dicts of the rules, which refuse what could not be played
        games = state_dict.from_dicts(state_dict.to_dicts(State(**kept)), self.device)
        if len(games.x) != player.of or totals.shape != (player.of, player.totals.shape[1]):
            raise Unreadable(f"it holds {len(games.x)} games, not {player.of}")
        own = torch.arange(player.share.start, player.share.stop, device=self.device)
        player.codes = player.games.put(torch.arange(len(own), device=self.device), games.rows(own))
        player.totals = totals.to(self.device)[own]
        if state["device"] == self.device.type:
            player.noise.set_state(state["noise"])
        else:
            player.noise.manual_seed(stream(self.config.training.seed, NOISE, update))


def check(config: Config) -> None:
    """Raises UsageError where there is no such device."""
    choose_device(config.runtime.device, local_rank())


def train(mode_run: ModeRun) -> None:
    """Train, with a save every so many minutes and at the end; every process takes part in all of it."""
    job, run, stop, config = mode_run.job, mode_run.run, mode_run.run.stop, mode_run.job.config
    device = choose_device(config.runtime.device, local_rank())
    prepare(device)
    with joined(device) as processes:
        trainer = TorchTrainer(job.mode, config, device, processes)
        if job.start:
            trainer.restore(job.start)
        mode_run.about = trainer.about()
        if not processes.any(stop.requested):
            total = config.training.updates * config.batch_size
            run.begin(mode_run.settings(), total, after=trainer.update, is_resumed=mode_run.after > 0)
        interval = 60 * config.runtime.checkpoint_minutes
        due, is_saved = time.monotonic() + interval, True
        while trainer.update < config.training.updates and not processes.any(stop.requested):
            updated = trainer.step()
            stop.begun()
            is_saved = False
            if processes.rank == 0:
                mode_run.write_episodes(trainer.update, updated.episodes)
                run.write(updated.metrics)
            if processes.gathered(time.monotonic() >= due)[0]:  # clocks differ, and the first one's counts
                is_saved = _save(trainer, mode_run)
                due = time.monotonic() + (interval if is_saved else min(interval, _RETRY_SECONDS))
        if not is_saved:
            _save(trainer, mode_run)


def _save(trainer: TorchTrainer, mode_run: ModeRun) -> bool:
    """Save, where files are written; whether it went well."""
    if mode_run.job.is_benchmark:
        return True
    content, attempt = trainer.checkpoint(mode_run.job.name), mode_run.run.writer.attempt
    if not mode_run.run.folder:
        return True
    is_saved = attempt(mode_run.checkpoint, partial(write_torch, mode_run.checkpoint, content))
    return attempt(mode_run.model, lambda: write_model(mode_run.model, trainer.model())) and is_saved


def _on_cpu(value: Any) -> Any:  # noqa: ANN401 - plain values and tensors, nested
    if isinstance(value, Tensor):
        return value.cpu()
    return {name: _on_cpu(each) for name, each in value.items()} if isinstance(value, dict) else value


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan
