"""Settings of training HackMatrix: those of rlworldkit, with this game's networks and curricula."""

from dataclasses import dataclass
from typing import ClassVar

from rlparity.io.arguments import OneOf
from rlworldkit.ppo import config
from rlworldkit.ppo.config import ARCHIVE, NO_CURRICULUM
from rlworldkit.ppo.value_heads import TWO_HOT
from rlworldkit.settings import setting

CENTRED, CONV, MLP, TURNED = "centred", "conv", "mlp", "turned"
STAGES, GENTLE, PROGRAMS = "stages", "gentle", "programs"
ARCHIVE_AND_PROGRAMS = f"{ARCHIVE}+{PROGRAMS}"


@dataclass(frozen=True)
class TrainConfig(config.TrainConfig):
    """rlworldkit's settings; the default network sees the board from the player's cell.

    Presets: ``documented`` is the run for an accelerator. ``quick`` is for four minutes on two CPU cores: small
    minibatches make many gradient steps, from which a short run learns more. ``win`` is for two hours on two cores: it
    finds the profitable programs by itself, and its policy survives the first victories with their reward of 500. On a
    GPU or TPU it plays its batch in more games and fewer steps.
    """

    presets: ClassVar = {
        "documented": {"num_envs": 2048, "total_timesteps": 100_000_000, "learning_rate": 6.25e-5, "ent_coef": 0.15},
        "quick": {
            "total_timesteps": 2_000_000,
            "learning_rate": 4e-4,
            "gae_lambda": 0.87,
            "num_minibatches": 32,
            "update_epochs": 3,
            "vf_coef": 0.25,
            "ent_coef": 0.05,
            "log_interval": 4,
        },
        "win": {
            "num_envs": 512,
            "total_timesteps": 320_000_000,
            "max_steps": 1000,
            "curriculum": ARCHIVE_AND_PROGRAMS,
            "curriculum_share": 0.3,
            "learning_rate": 1.5e-3,
            "learning_rate_end": 2e-5,
            "gamma": 0.999,
            "gae_lambda": 0.92,
            "num_minibatches": 32,
            "update_epochs": 1,
            "vf_coef": 0.1,
            "ent_coef": 0.015,
            "ent_coef_end": 0.003,
            "advantage": "levels",
            "network": TURNED,
            "value_head": TWO_HOT,
            "log_interval": 20,
        },
    }

    # the same sizes of batch and minibatches in fewer steps, since each step waits for the one before
    on_accelerator: ClassVar = {"win": {"num_envs": 4096, "num_steps": 16}}

    curriculum: str = setting(
        NO_CURRICULUM,
        "start states of a share of the games: `archive`, states that the run has reached, rare stages as often as "
        "others; `stages`, any stage; `gentle`, any stage without its first enemies; `programs`, the first stage with "
        "some programs owned; `archive+programs`, half of that share each, as in `--preset win`",
        group="environment",
        values=OneOf((NO_CURRICULUM, ARCHIVE, STAGES, GENTLE, PROGRAMS, ARCHIVE_AND_PROGRAMS)),
    )
    network: str = setting(
        CENTRED,
        "network: `centred` reads the board relative to the player; `conv` is `centred` with convolutions over the "
        "cells; `turned`, as in `--preset win`, turns the board so that the exit is at the top right, and reads "
        "every cell and those near the player; `mlp` reads the flat observation",
        group="network",
        values=OneOf((CENTRED, CONV, MLP, TURNED)),
    )
