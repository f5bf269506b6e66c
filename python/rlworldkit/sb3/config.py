"""Settings of a MaskablePPO run, with the defaults that the documentation lists."""

from dataclasses import dataclass, fields
from typing import Any, Self

from rlparity.errors import UsageError
from rlparity.io.arguments import ALL_STEPS, GAMES, SHARE, STEPS, FloatRange, IntRange
from rlworldkit.ppo.config import EPOCHS, ROLLOUT, WEIGHT
from rlworldkit.settings import check_settings, setting

_RUN, _PPO = "run", "settings of MaskablePPO"


class _Rate(FloatRange):
    """Range of a number, which also accepts a schedule of Stable-Baselines3."""

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        return None if callable(value) else super().fault(value)


_RATE = _Rate(0, 1, above=True)
RATES = ("learning_rate", "clip_range")
"""Settings that may be functions of the remaining share of the run, which no plain file can hold."""
SEED = IntRange(0, 2**32 - 1)
"""Range of seeds: Stable-Baselines3 seeds NumPy's legacy generator, which takes no larger ones."""


@dataclass(frozen=True)
class MaskablePPOConfig:
    """Settings of `rlworldkit.sb3.training`; the names are those of MaskablePPO.

    ``n_steps`` is per game: an update takes ``num_envs * n_steps`` steps. Rates are floats, or, like schedules of
    Stable-Baselines3, functions of the remaining share of the run, from 1 down to 0.
    """

    timesteps: int = setting(
        1_000_000,
        "total steps of all games, with those before `--resume`, rounded down to whole rollouts",
        group=_RUN,
        flag="--total-timesteps",
        values=ALL_STEPS,
    )
    num_envs: int = setting(8, "games played in parallel, all in one engine", group=_RUN, values=GAMES)
    save_freq: int = setting(50_000, "steps between checkpoints", group=_RUN, values=ALL_STEPS)
    eval_freq: int = setting(50_000, "steps between evaluations", group=_RUN, values=ALL_STEPS)
    eval_episodes: int = setting(50, "games of an evaluation", group=_RUN, flag="--eval-games", values=STEPS)
    eval_max_steps: int = setting(
        2_000, "truncate episodes of evaluations after this many steps", group=_RUN, values=STEPS
    )
    seed: int = setting(0, "seed of network and games", group=_RUN, values=SEED)
    learning_rate: Any = setting(3e-4, "learning rate", group=_PPO, flag="--lr", values=_RATE)
    n_steps: int = setting(2048, "steps of each game per update", group=_PPO, flag="--num-steps", values=ROLLOUT)
    batch_size: int = setting(64, "steps of a minibatch", group=_PPO, values=STEPS)
    n_epochs: int = setting(10, "epochs per update", group=_PPO, flag="--update-epochs", values=EPOCHS)
    gamma: float = setting(0.99, "discount factor", group=_PPO, values=SHARE)
    gae_lambda: float = setting(0.95, "lambda of GAE", group=_PPO, values=SHARE)
    clip_range: Any = setting(
        0.2, "clipping range of the probability ratio", group=_PPO, flag="--clip-eps", values=_RATE
    )
    ent_coef: float = setting(0.1, "weight of the entropy bonus", group=_PPO, values=WEIGHT)

    def validated(self) -> Self:
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        check_settings(self)
        if self.num_envs * self.n_steps > STEPS.most:
            raise UsageError(f"A rollout is at most {STEPS.most:,} steps: lower --num-envs or --num-steps.")
        if min(self.num_envs * self.n_steps, self.batch_size) < 2:
            raise UsageError("A rollout and a minibatch need two steps at least: raise --num-steps or --batch-size.")
        return self

    def rollouts_after(self, done: int = 0) -> int:
        """Number of whole rollouts that fit into ``timesteps`` after ``done`` steps; raises UsageError if none does."""
        rollout = self.num_envs * self.n_steps
        if self.timesteps - done < rollout:
            had = f"the {done:,} steps that there were and " if done else ""
            raise UsageError(
                f"timesteps must cover {had}at least one rollout of {self.num_envs:,} x {self.n_steps:,} = {rollout:,} "
                f"steps, got {self.timesteps:,}: ask for more with --total-timesteps."
            )
        return (self.timesteps - done) // rollout

    def ppo(self) -> dict[str, Any]:
        """Arguments of MaskablePPO among the settings, by name."""
        own = ("timesteps", "num_envs", "save_freq", "eval_freq", "eval_episodes", "eval_max_steps")
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in own}
