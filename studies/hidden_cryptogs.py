"""Measure what a trained player would gain if it saw the cryptogs that the observation hides (O4).

    python studies/hidden_cryptogs.py PARAMS [--episodes N]

It plays as it was trained, once on the observation of the rules and once on a copy in which every cryptog is visible.
"""

import argparse
from dataclasses import replace

import jax.numpy as jnp
from jax import Array

from hackmatrix import jax_env
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.rules import PLAYER_FEATURES
from hackmatrix.world import WORLD
from rlparity import EngineOptions, World
from rlparity.errors import ParityError
from rlparity.io.arguments import STEPS, Parser
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.outputs import fail
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.report import percent, summary
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.xla import enable_compilation_cache

_SHOW_ACTIVATED = PLAYER_FEATURES.index("showActivated")


class AllShown(HackMatrixJaxEnv):
    """HackMatrix whose observations hold every cryptog, as after SHOW; the feature ``showActivated`` is unchanged."""

    name = "hackmatrix-all-shown"
    packages = ()

    def observe(self, state: jax_env.State) -> Array:
        """Return the observation, float32 (1545,)."""
        shown = state._replace(now=state.now._replace(show_activated=jnp.bool_(True)))
        told = jax_env.observe(state)[_SHOW_ACTIVATED]
        return jax_env.observe(shown).at[_SHOW_ACTIVATED].set(told)


def main() -> None:
    """Read the command line, play with hidden and shown cryptogs, and print a line for each."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", help="a params_*.npz file, or `best`")
    parser.add_argument("--episodes", type=STEPS, default=3000)
    args = parser.parse_args()
    enable_compilation_cache("hackmatrix")
    try:
        player = AgentPlayer(read_agent(WORLD, args.params))
        for name, world in {"hidden": WORLD, "shown": all_shown()}.items():
            played = play_episodes(world, player, 0, args.episodes, engine="jax", num_envs=256)
            found = summary(world, played)
            value, wins = found["return"], percent(found["win_rate"])
            print(f"{name:6} return {value['mean']:.2f} ± {value['high'] - value['mean']:.2f}, {wins} won")
    except ParityError as error:
        fail(error)


def all_shown() -> World:
    """Make HackMatrix's world with ``AllShown`` as its only engine."""
    env = AllShown()

    def engine(games: int, options: EngineOptions = EngineOptions()) -> JaxEngine:
        return JaxEngine(games, env, prices=options.prices)

    return replace(WORLD, engines={"jax": engine})


if __name__ == "__main__":
    main()
