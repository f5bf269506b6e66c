"""Adapters that turn environments of other libraries into engines; each imports its library when it is opened.

| adapter | plays |
|---|---|
| `GymGame` | a Gymnasium environment |
| `VectorSide` | a Gymnasium vector environment |
| `PytreeGame` | an environment of pure JAX functions |
| `gymnax_game`, `pgx_game`, `jumanji_game`, `jax_env_game` | environments of Gymnax, pgx, Jumanji and rlworldkit |
| `functional_game` | functional environments of Gymnasium, such as those in `gymnasium.envs.phys2d` |
| `jaxmarl_game`, `ParallelGame` (in `rlparity.adapters.agents`) | environments of JaxMARL and PettingZoo |
| `EnvPoolGame`, `DmEnvGame` (in `rlparity.adapters.named`) | environments of EnvPool and dm_env |
| `SingleGame` | any game: subclass it and write ``begin`` and ``act`` |

A ``Pairing`` declares what both sides have in common::

    class Mine(SingleGame):
        def begin(self, seed):
            return self.env.reset(seed=seed)[0]

        def act(self, action):
            observation, reward, terminated, truncated, _ = self.env.step(action)
            return Outcome(observation, reward, terminated, truncated)

    WORLD = Pairing("game", {"theirs": lambda: GymGame(make), "mine": Mine}, ("left", "right"), (4,)).world()

Then ``rlparity run --world module:WORLD`` plays both. Observations may be nested dicts and tuples, whose leaves
``observation_shape`` names. Actions may be arrays (``rlparity.Box``, ``rlparity.MultiDiscrete``), and each of several
``players`` may have a reward. States are compared too where games have ``pull`` and ``push``, and such games can start
in each other's states (``--mode injected``). An original can start in a port's state (``starts_of``,
``GymGame(start=...)``) and use its random draws (``key_of``); ``resets_world`` compares resets alone. Environments of
known libraries have names on the command line, see ``rlparity.adapters.named``.
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
