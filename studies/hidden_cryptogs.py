"""Measure what a trained player would gain if it saw the cryptogs that the observation hides (O4).

    python studies/hidden_cryptogs.py PARAMS [--episodes N]

It plays as it was trained, once on the observation of the rules and once on a copy in which every cryptog is visible.
"""

import argparse
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.evaluation import EVALUATION
from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.rules import PLAYER_FEATURES
from parity.arguments import STEPS, Parser
from parity.errors import ParityError
from rlworldkit.cli.outputs import fail
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.players import player_of
from rlworldkit.evaluation.report import percent, summary
from rlworldkit.evaluation.spec import Player
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.xla import enable_compilation_cache

_SHOW_ACTIVATED = PLAYER_FEATURES.index("showActivated")


class AllShown(HackMatrixJaxEnv):
    """HackMatrix, but observations hold every cryptog, as after SHOW; the number that tells of SHOW is as it was."""

    name = "hackmatrix-all-shown"
    packages = ()

    def observe(self, state: jax_env.State) -> Array:
        """The observation, float32 (1545,)."""
        shown = state._replace(now=state.now._replace(show_activated=jnp.bool_(True)))
        told = jax_env.observe(state)[_SHOW_ACTIVATED]
        return jax_env.observe(shown).at[_SHOW_ACTIVATED].set(told)


def main() -> None:
    """Play both, and print a line for each."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", help="a params_*.npz file, or `best`")
    parser.add_argument("--episodes", type=STEPS, default=3000)
    args = parser.parse_args()
    enable_compilation_cache("hackmatrix")
    try:
        player = player_of(EVALUATION, args.params, deterministic=False, seed=0)
        for name, one in {"hidden": player, "shown": seeing_all(player)}.items():
            played = play_episodes(EVALUATION, one, 0, args.episodes, engine="jax", num_envs=256)
            found = summary(EVALUATION, played)
            value, wins = found["return"], percent(found["win_rate"])
            print(f"{name:6} return {value['mean']:.2f} ± {value['high'] - value['mean']:.2f}, {wins} won")
    except ParityError as error:
        fail(error)


def seeing_all(player: Player) -> Player:
    """The player, but on the observations of ``AllShown``, which follows the games: it is asked before every step."""
    env = AllShown()
    engine: JaxEngine | None = None
    seen: NDArray[Any] = np.empty((0, *env.observation_shape), np.float32)

    def choose(
        observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        nonlocal engine, seen
        if engine is None or engine.games != len(steps):
            engine, seen = JaxEngine(len(steps), env), np.array(observations)
        begun = np.flatnonzero(steps == 0)
        if len(begun):
            seen[begun] = engine.reset(seeds[begun], begun)
        actions = player(seen, masks, seeds, steps)
        seen = np.array(engine.step(actions).observation)
        return actions

    return choose


if __name__ == "__main__":
    main()
