"""Trainings so small that they take a moment."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import settings

from goodharts.config import Config
from goodharts.training.torch_ppo import TorchTrainer

reproducibly = settings(derandomize=True, database=None, deadline=None, max_examples=25)
"""For a property: the same examples every time, however slow the machine is."""
SMALL: dict[str, dict[str, Any]] = {
    "training": {"hidden": 16, "n_envs": 8, "steps_per_env": 16, "updates": 4, "k_epochs": 2},
    "runtime": {"device": "cpu", "amp": False},  # whether or not this CPU has AMX
    "world": {"max_steps": 20},
}


def small_config(**training: Any) -> Config:  # noqa: ANN401 - values of [training]
    """A configuration of small runs, with other values of [training]."""
    return Config().over(SMALL, "the test").over({"training": training}, "the test").validated()


def small_trainer(mode: str = "ground_truth", **training: Any) -> TorchTrainer:  # noqa: ANN401 - values of [training]
    return TorchTrainer(mode, small_config(**training))


def write_small_config(folder: Path, sections: Mapping[str, Mapping[str, Any]] = SMALL) -> None:
    """A ``config.toml`` that makes the command train small."""
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
