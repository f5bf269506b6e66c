"""Goodharts as environments: spaces, metrics of episodes, and pictures."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goodharts.render.text import draw_text
from goodharts.rules import EVENTS, MODES, OBSERVATION_SHAPE, Mode
from goodharts.world import WORLDS
from rlparity import State, UsageError
from rlworldkit.envs.spec import EnvSpec
from rlworldkit.envs.statistics import Counts, Summary


def own_statistics(counts: Counts) -> Summary:
    """How much ``food`` and ``poison`` was eaten in an episode."""
    return dict(zip(("food", "poison"), counts.events.T, strict=True))


def episode_metrics(summaries: Sequence[Summary]) -> dict[str, float]:
    """Mean ``eaten/food`` and ``eaten/poison`` of an episode, and ``eaten/efficiency``, the share of food.

    That share is left out where nothing was eaten.
    """
    food, poison = (sum(summary[name] for summary in summaries) for name in ("food", "poison"))
    eaten = {"eaten/food": food / len(summaries), "eaten/poison": poison / len(summaries)}
    return {**eaten, "eaten/efficiency": food / (food + poison)} if food + poison else eaten


def _picture(state: State) -> NDArray[np.uint8]:
    from goodharts.render.picture import draw_picture

    return draw_picture(state)


def _spec(mode: Mode) -> EnvSpec:
    return EnvSpec(
        world=WORLDS[mode.name],
        id="Goodharts-v0",
        make_space=partial(spaces.Box, 0.0, 1.0, OBSERVATION_SHAPE, np.float32),
        counted_events=EVENTS[:2],
        own_statistics=own_statistics,
        episode_metrics=episode_metrics,
        text=draw_text,
        picture=_picture,
        frames_per_second=15,
        home=f"{__name__}:{mode.name.upper()}",
    )


ENV_SPECS = {name: _spec(mode) for name, mode in MODES.items()}
GROUND_TRUTH = ENV_SPECS["ground_truth"]
GROUND_TRUTH_BLINDED = ENV_SPECS["ground_truth_blinded"]
PROXY_MORTAL = ENV_SPECS["proxy_mortal"]
PROXY = ENV_SPECS["proxy"]
GROUND_TRUTH_HANDHOLD = ENV_SPECS["ground_truth_handhold"]


def spec_of(mode: str) -> EnvSpec:
    """The environments of a mode; raises UsageError where there is none of this name."""
    if mode not in ENV_SPECS:
        raise UsageError(f"there is no mode {mode!r}: choose one of {', '.join(ENV_SPECS)}.")
    return ENV_SPECS[mode]
