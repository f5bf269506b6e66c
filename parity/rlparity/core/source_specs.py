"""The sources of actions that ``--source`` names."""

from functools import partial
from pathlib import Path

import numpy as np

from rlparity.agent import Judge, Policy, View
from rlparity.core.explore import ExploreSource
from rlparity.core.sources import POLICY, DirectedSource, Source
from rlparity.engine import Array
from rlparity.errors import UsageError, blamed
from rlparity.world import World


def open_source(spec: str, world: World, games: int, rng: np.random.Generator) -> Source:
    """Open the action source that ``--source`` names, except traces; raises UsageError where there is none."""
    if spec == "uniform":
        return Source()
    if spec == "directed":
        if not (world.starts or world.policies):
            raise UsageError(f"world '{world.name}' has no directed starts or policies: use --source uniform.")
        return DirectedSource(world, games, rng)
    if spec == "explore":
        return ExploreSource(world, games, rng)
    if spec.startswith(POLICY):
        return Source(agent_policy(world, Path(spec.removeprefix(POLICY))))
    raise UsageError(f"there is no source '{spec}': give uniform, directed, explore, policy:FILE or traces:DIR.")


def agent_policy(world: World, name: Path) -> Policy:
    """Policy of that name in the world, or of the agent in a file; raises UsageError where there is none."""
    if str(name) in world.policies:
        return world.policies[str(name)]
    if world.read_agent is None:
        raise UsageError(f"world '{world.name}' cannot read agents: name none, or use --source uniform.")
    path = world.agent_at(name)
    with blamed(f"reading the agent {path}"):
        try:
            return partial(_weights, world.read_agent(world, path))
        except FileNotFoundError:  # not checked beforehand: some agents have a name and no file
            raise UsageError(f"there is no policy file {path}: give the path of a checkpoint.") from None


def _weights(agent: Judge, view: View) -> Array:
    """Action weights of an agent: exponentials of its logits, 0 for invalid actions."""
    logits = np.where(view.mask, agent(view.observation, view.mask)[0], -np.inf).astype(np.float64)
    return np.exp(logits - logits.max(axis=1, keepdims=True, initial=np.finfo(np.float64).min))
