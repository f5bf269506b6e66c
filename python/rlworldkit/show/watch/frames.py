"""Frames of the games of an agent, which are the same games that `evaluate` plays."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlparity.engine import Array, Slots, consecutive_seeds
from rlworldkit.agents.agent import Agent, AgentPlayer, Masks, probabilities
from rlworldkit.agents.numpy_network import Floats
from rlworldkit.envs.episodes import Episodes
from rlworldkit.evaluation.play import ending_of
from rlworldkit.render.show import show_of

MOST_ACTIONS = 8
"""Number of actions that are shown with their probabilities."""
VALUE = "reward still expected"
"""Label of an agent's value."""


@dataclass(frozen=True)
class Decision:
    """An agent's action, probabilities (actions,) with 0 for invalid ones, its value, if any, and the observation."""

    action: int
    probabilities: NDArray[np.float64]
    value: float | None
    observation: Floats

    def likeliest(self, most: int = MOST_ACTIONS) -> tuple[list[int], str]:
        """List the ``most`` likeliest valid actions, the one taken always among them, and sum up the others in a text.

        The actions are in the order of falling probability; the text is empty if there are no others.
        """
        ranked = sorted(range(len(self.probabilities)), key=lambda action: -self.probabilities[action])
        shown = [action for action in ranked if self.probabilities[action] > 0 or action == self.action]
        if self.action in shown[most - 1 :]:
            shown.remove(self.action)
            shown.insert(most - 1, self.action)
        rest = shown[most:]
        return shown[:most], f"{len(rest)} more {self.probabilities[rest].sum():.1%}" if rest else ""


@dataclass(frozen=True)
class Frame:
    """A game after a step, and the step itself.

    seed: of the game. step: number of steps so far. state: the complete state after the step.
    decision: the agent's decision that led to the step; None at the start.
    components: (components,) of the step's reward, in the world's unit. earned: rewards of the episode so far.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    world: World = field(repr=False, compare=False)
    seed: int
    step: int
    state: State
    decision: Decision | None
    components: Array
    earned: NDArray[np.float64]
    ending: str | None = None
    agent: Agent | None = field(default=None, repr=False, compare=False)

    @property
    def reward(self) -> NDArray[np.float64]:
        """Rewards of the step by component."""
        return self.world.in_rewards(self.components)

    @property
    def reward_rows(self) -> list[tuple[str, str, str]]:
        """Name, step's and episode's reward of each nonzero component, in the order of the world, and of their sum."""
        rows = [
            (name, f"{step:+.3f}" if step else "", f"{episode:+.3f}")
            for name, step, episode in zip(self.world.components, self.reward, self.earned, strict=True)
            if step or episode
        ]
        return [*rows, ("total", f"{self.reward.sum():+.3f}", f"{self.earned.sum():+.3f}")]

    @property
    def outcome(self) -> str:
        """Outcome of the game so far, in a few words."""
        steps = f"{self.step} step{'s' * (self.step != 1)}"
        come = f"{self.ending or 'left'}{show_of(self.world).progress(self.state)}"
        return f"{come} after {steps}, return {self.earned.sum():.3f}"

    @property
    def verdict(self) -> str:
        """Seed and outcome of the game, in one line."""
        return f"game {self.seed}: {self.outcome}"


def games(episodes: Episodes, player: AgentPlayer, first_seed: int, count: int | None) -> Iterator[Iterator[Frame]]:
    """Yield the games of seeds ``first_seed``, ``first_seed`` + 1, … (modulo 2⁶⁴) on the one game of ``episodes``.

    count: number of games; None: the first game, and then those that follow it by the world's rule, without end. A game
    that is not played to its end is abandoned when the next one is requested.
    """
    if count is not None:
        for seed in consecutive_seeds(first_seed, count):
            yield frames(episodes, player, int(seed), 1)
        return
    for number in itertools.count():
        yield frames(episodes, player, first_seed, 1, following=number > 0)


def frames(
    episodes: Episodes, player: AgentPlayer, first_seed: int, count: int, *, following: bool = False
) -> Iterator[Frame]:
    """Yield every frame of ``count`` games from ``first_seed`` on, as many side by side as ``episodes`` has.

    following: start the games that follow by the world's rule, whatever their seeds.

    Games start in the order of their seeds; the frames of one game come in order, with those of others in between.
    """
    seeds = consecutive_seeds(first_seed, count)
    playing = np.arange(min(episodes.num_games, count))
    begun = len(playing)
    seed_of = np.zeros(episodes.num_games, np.uint64)  # the user's seeds: an engine may play from derived ones
    seed_of[playing] = seeds[:begun]
    yield from _begin(episodes, player.agent, playing, seed_of, following)
    while len(playing):
        played = _step(episodes, player, playing, seed_of)
        yield from played
        free = playing[[frame.ending is not None for frame in played]]
        fresh, idle = np.split(free, [min(len(free), count - begun)])
        playing = np.setdiff1d(playing, idle)
        if len(fresh):
            seed_of[fresh] = seeds[begun : begun + len(fresh)]
            yield from _begin(episodes, player.agent, fresh, seed_of, following)
            begun += len(fresh)


def _begin(episodes: Episodes, agent: Agent, slots: Slots, seed_of: NDArray[np.uint64], following: bool) -> list[Frame]:
    episodes.start(slots, None if following else seed_of[slots])
    nothing = np.zeros(len(episodes.world.components), np.int32)
    return [
        Frame(episodes.world, seed, 0, state, None, nothing, episodes.world.in_rewards(nothing), agent=agent)
        for seed, state in zip(seed_of[slots].tolist(), episodes.get_states(slots), strict=True)
    ]


def _step(episodes: Episodes, player: AgentPlayer, slots: Slots, seed_of: NDArray[np.uint64]) -> list[Frame]:
    observation, mask = episodes.observation, episodes.mask
    seeds, so_far = episodes.seeds, episodes.statistics.steps
    searched = player.searcher and player.searcher(observation, mask, seeds, so_far)  # also for games that have ended
    inputs = observation[slots], mask[slots], seeds[slots], so_far[slots]
    decisions = decide(
        player, *inputs, lambda: episodes.get_states(slots), None if searched is None else searched[slots]
    )
    actions = np.zeros(episodes.num_games, np.int32) if searched is None else np.array(searched)
    actions[slots] = [decision.action for decision in decisions]
    episodes.begin_step(actions)
    step = episodes.finish_step()
    endings = {
        slot: ending_of(episodes.world, step.events[slot], terminated=step.terminated[slot])
        if step.terminated[slot] or step.truncated[slot]
        else None
        for slot in slots.tolist()
    }
    counts = episodes.statistics.of(slots)
    earned, steps = episodes.world.in_rewards(counts.components), counts.steps.tolist()
    return [
        Frame(
            *(episodes.world, int(seed_of[slot]), count, state, decision, step.components[slot], total),
            endings[slot],
            player.agent,
        )
        for slot, count, state, decision, total in zip(
            slots.tolist(), steps, episodes.get_states(slots), decisions, earned, strict=True
        )
    ]


def decide(
    player: AgentPlayer,
    observation: Floats,
    mask: Masks,
    seeds: NDArray[np.uint64],
    steps: NDArray[np.int64],
    read_states: Callable[[], list[State]],
    searched: NDArray[np.int32] | None = None,
) -> list[Decision]:
    """Decide what the agent does in each of n games.

    observation: (n, *shape). mask: (n, actions). seeds, steps: (n,) seeds and steps so far. read_states: returns the
    games' complete states, for agents that need them. searched: actions (n,) that a search has chosen.
    """
    agent = player.agent
    logits, values = agent(observation, mask)
    if agent.values_in is not None:
        values = agent.values_in(read_states())
    actions = player.choice.actions(logits, mask, seeds, steps) if searched is None else searched
    chances = probabilities(logits, mask)
    return [
        Decision(action, chances[row], None if np.isnan(value) else value, observation[row])
        for row, (action, value) in enumerate(zip(actions.tolist(), values.tolist(), strict=True))
    ]
