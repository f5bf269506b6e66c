"""The flags of ``hackmatrix train``."""

import argparse
from pathlib import Path
from typing import Any

from hackmatrix.cli.parser import Parser, positive_int
from hackmatrix.purejaxrl.config import TrainConfig

# Group, flag, field of TrainConfig, type, meaning.
FLAGS: tuple[tuple[str, str, str, Any, str], ...] = (
    ("environment", "--num-envs", "num_envs", positive_int, "games played in parallel"),
    ("environment", "--num-steps", "num_steps", positive_int, "steps of each game per update"),
    ("environment", "--total-timesteps", "total_timesteps", positive_int, "steps of all games, in whole updates"),
    ("PPO", "--lr", "learning_rate", float, "learning rate (use 6.25e-5 with 2048 games)"),
    ("PPO", "--gamma", "gamma", float, "discount factor"),
    ("PPO", "--gae-lambda", "gae_lambda", float, "GAE lambda"),
    ("PPO", "--num-minibatches", "num_minibatches", positive_int, "minibatches per epoch (scales with the batch)"),
    ("PPO", "--update-epochs", "update_epochs", positive_int, "epochs per update (scales with the batch)"),
    ("PPO", "--clip-eps", "clip_eps", float, "clipping range of the probability ratio and the value"),
    ("PPO", "--vf-coef", "vf_coef", float, "weight of the value loss"),
    ("PPO", "--ent-coef", "ent_coef", float, "weight of the entropy bonus"),
    ("PPO", "--max-grad-norm", "max_grad_norm", float, "gradient norm to clip at"),
    ("network", "--network", "network", str, "centred: reads the board around the player; mlp: reads it flat"),
    ("network", "--hidden-dim", "hidden_dim", positive_int, "width of a hidden layer"),
    ("network", "--num-layers", "num_layers", positive_int, "number of hidden layers"),
    ("logging and checkpoints", "--log-interval", "log_interval", positive_int, "updates per line of metrics"),
    ("network", "--dtype", "dtype", str, "what the hidden layers compute in: float32 or bfloat16"),
    ("run", "--seed", "seed", int, "seed of network, games and shuffling"),
)


def train_parser() -> Parser:
    """The parser of the command; a flag of FLAGS that is not given is None."""
    parser = Parser(
        prog="hackmatrix train", description="Train an agent on the JAX engine with masked PPO.", allow_abbrev=False
    )
    defaults = TrainConfig()
    groups: dict[str, Any] = {}
    for group, flag, field, kind, meaning in FLAGS:
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        default = getattr(defaults, field)
        shown, metavar = f"{default:,}" if isinstance(default, int) else default, "NAME" if kind is str else "N"
        groups[group].add_argument(
            flag, dest=field, type=kind, default=None, metavar=metavar, help=f"{meaning} (default {shown})"
        )
    groups["environment"].add_argument(
        "--max-steps", type=positive_int, metavar="N", help="truncate episodes after N steps (default never)"
    )
    _add_logging(groups["logging and checkpoints"])
    run = groups["run"]
    run.add_argument(
        "--resume", metavar="FILE", help="go on from a checkpoint_*.pkl file, or from the `latest` in --checkpoint-dir"
    )
    run.add_argument("--rewind", action="store_true", help="with --resume: rewind the history on W&B to the checkpoint")
    several = parser.add_argument_group("several hosts")
    several.add_argument(
        "--distributed", action="store_true", help="train together with other processes, each started like this one"
    )
    several.add_argument("--coordinator", metavar="HOST:PORT", help="address of the first process, where not found")
    several.add_argument("--num-processes", type=positive_int, metavar="N", help="how many processes, where not found")
    several.add_argument("--process-id", type=int, metavar="N", help="this process's number from 0, where not found")
    run.add_argument("--auto-tune", action="store_true", help="fit games, steps and learning rate to the device")
    return parser


def _add_logging(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--no-wandb", action="store_true", help="leave W&B out")
    group.add_argument("--project", default="hackmatrix", metavar="NAME", help="W&B project (default hackmatrix)")
    group.add_argument("--entity", metavar="NAME", help="W&B entity (default: the account's own)")
    group.add_argument("--run-name", metavar="NAME", help="the run's name and folder (default: from time and seed)")
    group.add_argument("--run-suffix", metavar="TEXT", help="appended to a name made from time and seed")
    group.add_argument(
        "--save-interval-minutes",
        type=_positive_float,
        default=10.0,
        metavar="N",
        help="minutes between checkpoints (default 10)",
    )
    group.add_argument(
        "--save-interval", type=positive_int, metavar="N", help="updates between checkpoints (default: by time)"
    )
    group.add_argument(
        "--checkpoint-dir",
        type=Path,
        default=Path("checkpoints"),
        metavar="DIR",
        help="where the run's folder goes (default checkpoints)",
    )
    group.add_argument("--no-artifact", action="store_true", help="do not upload checkpoints to W&B")


def _positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value
