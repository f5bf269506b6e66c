"""Policies in ONNX files, to be evaluated as models are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from goodharts.models import config_of, progress_of
from goodharts.rules import MODES
from goodharts.world import WORLDS
from rlparity.errors import UsageError
from rlparity.io.safe_read import Unreadable, is_object, json_of
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.onnx_policy import WORLD, onnx_metadata
from rlworldkit.agents.read import read_agent


class OnnxModel(NamedTuple):
    """A policy, and what its file says of its training, as `models.Model` has it; those of others say nothing."""

    mode: str
    config: Mapping[str, Mapping[str, Any]]
    update: int
    timesteps: int
    agent: Agent


def read_onnx_model(path: Path, mode: str | None) -> OnnxModel:
    """Read a policy of a mode, which must be given where the file names none.

    Raises UsageError where the file cannot be used, or is of another mode.
    """
    metadata = onnx_metadata(path)
    chosen = mode or metadata.get(WORLD, "").removeprefix("goodharts-")
    if chosen not in MODES:
        raise UsageError(f"{path} does not say which mode its policy is of: give --mode, one of {', '.join(MODES)}.")
    agent = read_agent(WORLDS[chosen], path)
    try:
        provenance = json_of(metadata.get("provenance", "{}").encode())
        settings = provenance.get("settings") if is_object(provenance) else None
        trained = {"update": 0, "timesteps": 0, "config": {}, **(settings if is_object(settings) else {})}
        return OnnxModel(chosen, config_of(trained), *progress_of(trained), agent)
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; give an .onnx policy such as `export` writes.") from None
