"""The settings of MaskablePPO, as the documents give them."""

from dataclasses import dataclass, fields
from typing import Any, Self

from parity.errors import UsageError
from worldkit.settings import at_least, check_settings, fraction, not_negative, positive, seed, setting

_RUN, _PPO = "run", "settings of MaskablePPO"


def _rate(value: Any) -> str | None:  # noqa: ANN401 - a float or a schedule
    return None if callable(value) else positive(value)


@dataclass(frozen=True)
class MaskablePPOConfig:
    """What `worldkit.sb3.training` trains with; the names are those of MaskablePPO.

    ``n_steps`` is per game: an update takes ``num_envs * n_steps`` steps. Rates are floats, or functions of the
    share of the run that is left, from 1 down to 0, as Stable-Baselines3 takes schedules.
    """

    timesteps: int = setting(
        1_000_000,
        "steps of all games, those before `--resume` included, in whole rollouts",
        group=_RUN,
        check=at_least(1),
    )
    num_envs: int = setting(8, "games played side by side, all in one engine", group=_RUN, check=at_least(1))
    save_freq: int = setting(50_000, "steps between checkpoints", group=_RUN, check=at_least(1))
    eval_freq: int = setting(50_000, "steps between evaluations", group=_RUN, check=at_least(1))
    eval_episodes: int = setting(50, "episodes of an evaluation", group=_RUN, check=at_least(1))
    eval_max_steps: int = setting(
        2_000, "steps after which an episode of an evaluation is cut off", group=_RUN, check=at_least(1)
    )
    seed: int = setting(0, "seed of network and games", group=_RUN, check=seed)
    learning_rate: Any = setting(3e-4, "learning rate", group=_PPO, check=_rate, shown="3e-4")
    n_steps: int = setting(2048, "steps of each game per update", group=_PPO, check=at_least(1))
    batch_size: int = setting(64, "steps of a minibatch", group=_PPO, check=at_least(1))
    n_epochs: int = setting(10, "epochs per update", group=_PPO, check=at_least(1))
    gamma: float = setting(0.99, "discount factor", group=_PPO, check=fraction)
    gae_lambda: float = setting(0.95, "GAE λ", group=_PPO, check=fraction)
    clip_range: Any = setting(0.2, "clipping range of the probability ratio", group=_PPO, check=_rate)
    ent_coef: float = setting(0.1, "weight of the entropy bonus", group=_PPO, check=not_negative)

    def validated(self) -> Self:
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        check_settings(self)
        if min(self.num_envs * self.n_steps, self.batch_size) < 2:
            raise UsageError("A rollout and a minibatch need two steps at least: raise --n-steps or --batch-size.")
        return self

    def ppo(self) -> dict[str, Any]:
        """The arguments of MaskablePPO."""
        own = ("timesteps", "num_envs", "save_freq", "eval_freq", "eval_episodes", "eval_max_steps")
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in own}
