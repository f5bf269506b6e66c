"""Measure environments of others in the same loop and run as HackMatrix, for the table of docs/explanation/results.md.

    python studies/peers.py [--num-envs N] [--repetitions N] [--json FILE]

The peers are 2048 of pgx, Breakout-MinAtar of gymnax and Craftax-Classic-Symbolic of Craftax: install them with
`pip install "pgx>=2.6,<3" "gymnax>=1.0,<2" "craftax>=1.6,<2"`. One that is missing, or fails under this JAX, is left
out with a sentence.
"""

import argparse
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from hackmatrix import train_config
from hackmatrix.env import HackMatrixJaxEnv
from rlparity.errors import ParityError
from rlparity.io.arguments import GAMES, STANDARD_OUTPUT, IntRange, Parser
from rlparity.io.console import open_console
from rlworldkit.bench import env as env_bench
from rlworldkit.bench import train as train_bench
from rlworldkit.bench.records import Record, as_json, as_row, plain_record
from rlworldkit.bench.timing import TimedProgram, calls_per_second
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, fail, write_output
from rlworldkit.jax.env import JaxEnv, StepOutput
from rlworldkit.jax.xla import prefer_wide_vectors
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import MLP


class PeerState(NamedTuple):
    """State of a peer's game. key: for its next step. game: the peer's own state. shown: the flat observation."""

    key: Array
    game: Any
    shown: Array


class PeerEnv(JaxEnv):
    """Peer environment as a JaxEnv of rlworldkit; the peer's own step auto-resets its games.

    Observations are flattened to float32. An episode that ends counts as terminated, even if it was truncated: its last
    observation is lost, and trainers written for such environments do the same.
    """

    def __init__(
        self,
        name: str,
        num_actions: int,
        reset: Callable[[Array], tuple[Any, Array]],
        step: Callable[[Array, Any, Array], tuple[Any, Array, Array, Array]],
        mask: Callable[[Any], Array] | None = None,
    ) -> None:
        """Wrap functions of one game.

        Args:
            name: name of the peer.
            num_actions: number of actions.
            reset: ``reset(key) -> (game, observation)``.
            step: ``step(key, game, action) -> (game, observation, reward, done)``, with auto-reset.
            mask: ``mask(game)`` returns the valid actions; None: all are valid.
        """
        self.name = name
        self.num_actions = num_actions
        self._reset, self._step, self._mask = reset, step, mask
        shown = jax.eval_shape(self.reset, jax.ShapeDtypeStruct((2,), jnp.uint32)).shown
        self.observation_shape = shown.shape

    def reset(self, seed: Array) -> PeerState:
        key, following = jax.random.split(jax.random.wrap_key_data(seed))
        game, shown = self._reset(key)
        return PeerState(following, game, _flat(shown))

    def step(self, state: PeerState, action: Array) -> StepOutput:
        key, following = jax.random.split(state.key)
        game, shown, reward, done = self._step(key, state.game, action)
        after = PeerState(following, game, _flat(shown))
        nothing = jnp.zeros(len(self.components), jnp.int32)
        return StepOutput(after, reward.astype(jnp.float32), nothing, done, jnp.zeros_like(done), after)

    def next_game(self, state: PeerState) -> PeerState:
        return state  # the step has reset it

    def observe(self, state: PeerState) -> Array:
        return state.shown

    def mask(self, state: PeerState) -> Array:
        return super().mask(state) if self._mask is None else self._mask(state.game)


def _flat(shown: Array) -> Array:
    return shown.astype(jnp.float32).reshape(-1)


def _of_pgx(name: str) -> PeerEnv:
    import pgx
    from pgx.experimental import auto_reset

    peer = pgx.make(name)
    following = auto_reset(peer.step, peer.init)

    def reset(key: Array) -> tuple[Any, Array]:
        state = peer.init(key)
        return state, state.observation

    def step(key: Array, state: Any, action: Array) -> tuple[Any, Array, Array, Array]:  # noqa: ANN401 - pgx's own
        state = following(state, action, key)
        return state, state.observation, state.rewards[0], state.terminated

    return PeerEnv(name, peer.num_actions, reset, step, lambda state: state.legal_action_mask)


def _of_gymnax(name: str) -> PeerEnv:
    import gymnax

    peer, params = gymnax.make(name)

    def step(key: Array, state: Any, action: Array) -> tuple[Any, Array, Array, Array]:  # noqa: ANN401 - gymnax's own
        shown, state, reward, terminated, truncated, _ = peer.step(key, state, action, params)
        return state, shown, reward, terminated | truncated

    return PeerEnv(name, peer.num_actions, lambda key: peer.reset(key, params)[::-1], step)


def _of_craftax(name: str) -> PeerEnv:
    from craftax.craftax_env import make_craftax_env_from_name

    peer = make_craftax_env_from_name(name, auto_reset=True)
    params = peer.default_params

    def step(key: Array, state: Any, action: Array) -> tuple[Any, Array, Array, Array]:  # noqa: ANN401 - Craftax's own
        shown, state, reward, done, _ = peer.step(key, state, action, params)
        return state, shown, reward, done

    return PeerEnv(name, peer.action_space(params).n, lambda key: peer.reset(key, params)[::-1], step)


@dataclass(frozen=True)
class Peer:
    """A peer environment. name: in records. title: in its package. open: makes it from the title.

    is_trained: whether PPO is measured on it, too.
    """

    name: str
    package: str
    title: str
    open: Callable[[str], PeerEnv]
    is_trained: bool = False


PEERS = (
    Peer("2048", "pgx", "2048", _of_pgx),
    Peer("breakout", "gymnax", "Breakout-MinAtar", _of_gymnax, is_trained=True),
    Peer("craftax_classic", "craftax", "Craftax-Classic-Symbolic-v1", _of_craftax),
)


def measure(env: JaxEnv, config: TrainConfig, repetitions: int) -> Iterator[Record]:
    """Measure each of ``PEERS``: ``env_steps_per_second_beside_PEER``, ``…_of_PEER`` and ``env_share_of_PEER``.

    The first record is this world's speed, the second the peer's, and the third their quotient. Both are played as by
    ``bench env``; their samples alternate, and the quotient is that of adjacent samples. Records of PPO begin with
    ``train``: whole updates with the settings ``config`` and an MLP. A peer that is not installed, or does not work
    with this JAX, is left out with a sentence on standard error.

    Raises:
        ParityError: all peers are left out.
    """
    flat = dataclasses.replace(train_bench.one_update(config), network=MLP)
    playing = training = None
    steps = env_bench.STEPS_PER_CALL * flat.num_envs
    are_left_out = []
    for peer in PEERS:
        try:
            other = peer.open(peer.title)
            played = env_bench.compiled(other, flat.num_envs)
            trained = train_bench.compiled(other, flat) if peer.is_trained else None
        except Exception as fault:  # a peer that does not work with this JAX can raise anything
            are_left_out.append(peer.name)
            open_console(stderr=True).print(f"leaving out {peer.title} of {peer.package}: {reason_of(fault)}")
            continue
        playing = playing or env_bench.compiled(env, flat.num_envs)
        yield from beside(_names("env", peer), flat.num_envs, (playing, played), steps, repetitions)
        if trained:
            training = training or train_bench.compiled(env, flat)
            programs = (training, trained)
            yield from beside(_names("train", peer), flat.num_envs, programs, flat.batch_size, repetitions)
    if len(are_left_out) == len(PEERS):
        raise ParityError(f"There is no peer to measure: install {', '.join(peer.package for peer in PEERS)}.")


def beside(
    names: tuple[str, str, str],
    num_envs: int,
    programs: tuple[TimedProgram[Any], TimedProgram[Any]],
    steps: int,
    repetitions: int,
) -> Iterator[Record]:
    """Measure the steps per second of two programs with alternating samples, and the quotient of first and second."""
    pairs = [*islice(zip(*map(calls_per_second, programs), strict=True), repetitions)]
    for name, samples in zip(names, zip(*pairs, strict=True), strict=False):
        yield plain_record(name, num_envs, [each * steps for each in samples])
    yield plain_record(names[2], num_envs, [first / second for first, second in pairs], unit="")


def reason_of(fault: Exception) -> str:
    """Describe a failure in one line: the missing package, or the exception's type and first line."""
    if isinstance(fault, ModuleNotFoundError):
        return f"it needs {fault.name}, which is not installed."
    return f"{type(fault).__name__}: {(str(fault).splitlines() or ['it says nothing more'])[0]}"


def _names(what: str, peer: Peer) -> tuple[str, str, str]:
    name = peer.name
    return f"{what}_steps_per_second_beside_{name}", f"{what}_steps_per_second_of_{name}", f"{what}_share_of_{name}"


def main() -> None:
    """Read the command line, measure, and print each record once it is measured."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=GAMES, default=256, help="games played at the same time (default: 256)")
    parser.add_argument("--repetitions", type=IntRange(1, 10_000), default=3, help="samples per figure (default: 3)")
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    args = parser.parse_args()
    prefer_wide_vectors()
    records: list[Record] = []
    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    try:
        for record in measure(HackMatrixJaxEnv(), train_config.TrainConfig(num_envs=args.num_envs), args.repetitions):
            console.print(as_row(record, with_heading=not records))
            records.append(record)
    except ParityError as error:
        fail(error)
    if args.json:
        write_output(args.json, as_json(records))


if __name__ == "__main__":
    main()
