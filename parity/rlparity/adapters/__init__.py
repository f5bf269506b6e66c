"""Other people's environments as engines: each adapter imports its library when it is opened.

| adapter | plays |
|---|---|
| `GymGame` | an environment of Gymnasium |
| `VectorSide` | a vector environment of Gymnasium |
| `PytreeGame` | pure functions of JAX |
| `gymnax_game`, `pgx_game`, `jumanji_game`, `jax_env_game` | environments of Gymnax, pgx, Jumanji and rlworldkit |
| `functional_game` | functional environments of Gymnasium, such as of `gymnasium.envs.phys2d` |
| `jaxmarl_game`, `ParallelGame` (in `rlparity.adapters.agents`) | environments of JaxMARL and PettingZoo |
| `EnvPoolGame`, `DmEnvGame` (in `rlparity.adapters.named`) | environments of EnvPool and dm_env |
| `SingleGame` | anything that you write ``begin`` and ``act`` for |

A ``Pairing`` says what both sides have in common::

    class Mine(SingleGame):
        def begin(self, seed):
            return self.env.reset(seed=seed)[0]

        def act(self, action):
            observation, reward, terminated, truncated, _ = self.env.step(action)
            return Outcome(observation, reward, terminated, truncated)

    WORLD = Pairing("game", {"theirs": lambda: GymGame(make), "mine": Mine}, ("left", "right"), (4,)).world()

Then ``rlparity run --world module:WORLD`` plays both. Observations may be nested dicts and tuples, whose parts
``observation_shape`` names, actions arrays (``rlparity.Box``, ``rlparity.MultiDiscrete``), and rewards one for each of
several ``players``. Games with ``pull`` and ``push`` are compared by their states too, and can begin in each other's
(``--mode injected``). An original can begin where a port does (``starts_of``, ``GymGame(start=...)``) and draw what it
draws (``key_of``), and what resets draw be compared by itself (``resets_world``). Environments of known libraries have
names on the command line, see ``rlparity.adapters.named``.
"""

from rlparity.adapters.draws import Draws, SharedGenerator, key_of
from rlparity.adapters.gymnasium import GymGame, VectorSide
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import PytreeGame, functional_game, gymnax_game, jax_env_game, jumanji_game, pgx_game
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.adapters.starts import resets_world, starts_of

__all__ = [
    "Draws",
    "GymGame",
    "Outcome",
    "Pairing",
    "PytreeGame",
    "SharedGenerator",
    "SingleGame",
    "VectorSide",
    "functional_game",
    "gymnax_game",
    "jax_env_game",
    "jumanji_game",
    "key_of",
    "pgx_game",
    "resets_world",
    "starts_of",
]
