"""``goodharts brain-view``: watch an agent's lives, the layers of its network among what is seen of it."""

from collections.abc import Sequence
from dataclasses import replace

from goodharts.rules import MODES
from rlparity import World
from rlworldkit.agents.agent import Agent
from rlworldkit.cli import watch


def main(argv: Sequence[str]) -> int:
    """Show game 0 of a seed by the rules of an evaluation, life after life; as ``watch`` otherwise."""
    from goodharts.cli.main import PROGRAM

    return watch.main(PROGRAM, argv, command="brain-view", following=in_evaluation)


def in_evaluation(world: World, agent: Agent) -> World:
    """The world in which the agent was trained, by the rules of an evaluation (G6)."""
    from goodharts.agents import numbers_of, training_of
    from goodharts.world import evaluation_world

    trained, _ = training_of(agent)
    mode = MODES[world.name.removeprefix("goodharts-")]
    return replace(evaluation_world(mode, numbers_of(trained, source=str(agent.path))), game_seeds=world.game_seeds)
