"""Draw the roofline of docs/explanation/results.md and print its tables: what the machine can do, and what is done.

    python studies/roofline.py [--json FILE]

Ceilings are the best of samples before and after all else, which is medians; cores are used as XLA does by itself.
Operations and bytes of the networks are those that the maths needs (`shared.work`).
"""

import argparse
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from matplotlib.figure import Figure
from shared.ceilings import Ceilings, ceilings_here, seconds_of
from shared.pictures import IMAGES
from shared.work import FLOAT, Work, evaluating, learning

from hackmatrix import jax_env
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.jax_env.observation import player_cell
from hackmatrix.train_config import TrainConfig
from rlparity.io.arguments import STANDARD_OUTPUT, Parser
from rlparity.io.atomic_write import write_whole
from rlworldkit.bench.env import Play, new_games, random_valid_actions
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, write_output
from rlworldkit.evaluation.report import as_json
from rlworldkit.jax.xla import enable_compilation_cache, prefer_wide_vectors
from rlworldkit.pictures import drawn
from rlworldkit.ppo.networks import make_network
from rlworldkit.ppo.params import Params
from rlworldkit.ppo.ppo import ppo_loss
from rlworldkit.ppo.state import Samples, Transition

REPETITIONS = 7
GAMES, STEPS = (8, 64, 256, 1024, 4096), 32
LEARNED, PLAYED = 8192, 256
"""Number of samples in a minibatch, and of games that a rollout evaluates at once."""
FORWARD, GRADIENT = "forward", "gradient"
_COLOURS = {"centred": "#1b7f4d", "conv": "#7a5195", "turned": "#2f6fb0", "mlp": "#d98c2b"}
_MARKERS = {GRADIENT: "o", FORWARD: "^"}


@dataclass(frozen=True)
class Point:
    """A pass of a network over a number of samples, and its seconds."""

    network: str
    kind: str
    samples: int
    work: Work
    seconds: float

    @property
    def intensity(self) -> float:
        """Operational intensity: operations per byte."""
        return self.work.operations / self.work.moved

    @property
    def attained(self) -> float:
        """Attained operations per second."""
        return self.work.operations / self.seconds


class Played(NamedTuple):
    """The transitions that a rollout stores."""

    seen: Array
    mask: Array
    action: Array
    reward: Array


def main() -> None:
    """Read the command line, measure, print the tables, draw, and write the measurements."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    target = parser.parse_args().json
    prefer_wide_vectors()
    enable_compilation_cache("hackmatrix")
    env, before = HackMatrixJaxEnv(), ceilings_here()
    rollouts = {games: played(env, games) for games in GAMES}
    steps = {games: seconds for games, (seconds, _) in rollouts.items()}
    samples = samples_of(env, rollouts[PLAYED][1])
    points = [point for network in env.networks() for point in points_of(env, network, samples)]
    ceilings = ceilings_here().or_higher(before)
    if target != STANDARD_OUTPUT:
        print(ceilings_table(ceilings), points_table(points, ceilings), *steps_tables(steps, ceilings), sep="\n\n")
    write_whole(IMAGES / "roofline.png", picture(ceilings, points))
    if target:
        passes = [{**asdict(each), "work": each.work._asdict()} for each in points]
        write_output(target, as_json({"ceilings": asdict(ceilings), "passes": passes, "seconds_of_a_step": steps}))


# ---------------------------------------------------------------------------------------------------- measuring


def played(env: HackMatrixJaxEnv, games: int) -> tuple[float, Played]:
    """Measure the seconds of a step of ``games`` games with random valid actions; also return ``STEPS`` of them."""

    def step(play: Play, _: None) -> tuple[Play, Played]:
        key, chosen = jax.random.split(play.key)
        seen, mask = jax.vmap(env.compact)(play.states), jax.vmap(env.mask)(play.states)
        actions = random_valid_actions(chosen, mask)
        stepped = jax.vmap(env.step_autoreset)(play.states, actions)
        return play._replace(states=stepped.state, key=key), Played(seen, mask, actions, stepped.reward)

    scan = jax.jit(lambda play: jax.lax.scan(step, play, None, length=STEPS))
    play, _ = scan(new_games(env, games))  # skip the first steps of games, which are unlike the others
    return statistics.median(seconds_of(lambda: scan(play), REPETITIONS)) / STEPS, scan(play)[1]


def samples_of(env: HackMatrixJaxEnv, rollout: Played) -> Samples:
    """Make samples to learn from, sorted by the player's cell, with random advantages and targets."""
    seen, mask, action, _ = (leaf.reshape(-1, *leaf.shape[2:])[:LEARNED] for leaf in rollout)
    advantage, target = jax.random.normal(jax.random.key(0), (2, len(seen)))
    nothing = jnp.zeros(len(seen))
    transition = Transition(seen, action, nothing, nothing > 0, -jnp.log(mask.sum(axis=1)), nothing, mask, None)
    order = jnp.argsort(player_cell(seen))
    samples: Samples = jax.tree.map(lambda leaf: leaf[order], Samples(transition, advantage, target))
    return samples


def points_of(env: HackMatrixJaxEnv, name: str, samples: Samples) -> list[Point]:
    """Measure the gradient of a minibatch, and the forward pass of a rollout's step."""
    config, encoder = TrainConfig(network=name), env.networks()[name]
    network = make_network(name, encoder, env.num_actions, config.hidden_dim, config.num_layers)
    params = jax.jit(network.init)(jax.random.key(0), jnp.zeros((1, *env.observation_shape)))
    seen = jax.random.permutation(jax.random.key(1), samples.transition.obs)[:PLAYED]

    def learn(params: Params, samples: Samples) -> Params:
        gradient = jax.grad(ppo_loss, has_aux=True)
        grads, _ = gradient(params, network.apply, samples, config, env, None, encoder is not None)
        return jax.tree.map(lambda leaf, grad: leaf - 1e-6 * grad, params, grads)

    def evaluate(total: Array, given: tuple[Params, Array]) -> Array:
        told: Any = network.apply(given[0], env.expand(given[1]))
        return total + told[0].sum() + told[1].sum()

    learned = _of_one(learn, params, samples, 6)
    evaluated = _of_one(evaluate, jnp.zeros(()), (params, seen), 64)
    return [
        Point(name, GRADIENT, LEARNED, learning(params, LEARNED), learned),
        Point(name, FORWARD, PLAYED, evaluating(params, PLAYED), evaluated),
    ]


def _of_one(function: Callable[[Any, Any], Any], carry: Any, given: Any, times: int) -> float:  # noqa: ANN401 - trees
    """Measure the seconds per call in a compiled loop, where buffers are reused as in the trainer."""

    def again(carry: Any, given: Any) -> Any:  # noqa: ANN401 - trees
        # the barrier keeps XLA from hoisting loop-invariant operations out of the loop
        return jax.lax.fori_loop(0, times, lambda _, now: function(*jax.lax.optimization_barrier((now, given))), carry)

    loop = jax.jit(again)
    return statistics.median(seconds_of(lambda: loop(carry, given), REPETITIONS)) / times


# ---------------------------------------------------------------------------------------------------- reporting


def ceilings_table(ceilings: Ceilings) -> str:
    """Table of the machine's ceilings."""
    return _table(
        ("ceiling", "measured"),
        (
            ("products of float32", f"{ceilings.float32 / 1e9:,.0f} GFLOP/s"),
            ("products of bfloat16, summed in float32", f"{ceilings.bfloat16 / 1e9:,.0f} GFLOP/s"),
            ("memory", f"{ceilings.memory / 1e9:.1f} GB/s"),
        ),
    )


def points_table(points: Iterable[Point], ceilings: Ceilings) -> str:
    """Table of each network's passes: work, time, and share of the ceiling."""
    rows = [
        (
            f"`{each.network}`, {each.kind} of {each.samples:,}",
            f"{each.work.operations / 1e9:.3g}",
            f"{each.work.moved / 1e6:.3g}",
            f"{each.intensity:.0f}",
            f"{1000 * each.seconds:.3g} ms",
            f"{each.attained / 1e9:.0f}",
            f"{each.attained / ceilings.at(each.intensity):.0%}",
        )
        for each in points
    ]
    return _table(("pass", "GFLOP", "MB", "FLOP/byte", "time", "GFLOP/s", "share of the ceiling"), rows)


def steps_tables(steps: dict[int, float], ceilings: Ceilings) -> tuple[str, str]:
    """Tables of the time of a step by number of games, with a fitted line and the memory bound."""
    fixed, each = line_through(steps)
    moved = 2 * jax_env.state_bytes() + FLOAT * jax_env.PACKED_SIZE
    rows = [
        (f"{games:,}", f"{1e6 * taken:,.0f} µs", f"{1e6 * (fixed + each * games):,.0f} µs", f"{games / taken:,.0f}")
        for games, taken in steps.items()
    ]
    facts = (
        ("a step, however few games play", f"{1e6 * fixed:,.0f} µs"),
        ("one game more", f"{1e6 * each:.2f} µs"),
        ("so the more games, the nearer to", f"{1 / each:,.0f} steps/s"),
        ("bytes that a step of a game reads and writes at least", f"{moved:,}"),
        ("so memory would allow", f"{ceilings.memory / moved:,.0f} steps/s"),
    )
    return _table(("games", "a step", "on the line", "steps/s"), rows), _table(("the line", "measured"), facts)


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table."""
    first, *others = (f"| {' | '.join(row)} |" for row in (heading, *rows))
    return "\n".join((first, "|" + "---|" * len(heading), *others))


def line_through(steps: dict[int, float]) -> tuple[float, float]:
    """Fit ``a + b * games`` to the seconds of a step by least squares of relative errors; return a and b."""
    games, seconds = np.array(list(steps), float), np.array(list(steps.values()))
    fixed, each = np.linalg.lstsq(np.stack([1 / seconds, games / seconds], 1), np.ones(len(steps)), rcond=None)[0]
    return float(fixed), float(each)


def picture(ceilings: Ceilings, points: Iterable[Point]) -> bytes:
    """Draw a PNG of operations per second over operations per byte, below the ceilings."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    for name, peak, style in (("float32", ceilings.float32, "-"), ("bfloat16", ceilings.bfloat16, "--")):
        reach = np.geomspace(1, 1000, 500)
        axis.plot(reach, np.minimum(peak, reach * ceilings.memory) / 1e9, style, color="black", linewidth=1)
        axis.text(950, 1.04 * peak / 1e9, f"products of {name}", ha="right")
    axis.text(2, 1.3 * ceilings.memory / 1e9, f"memory, {ceilings.memory / 1e9:.0f} GB/s")
    for each in points:
        style, label = _MARKERS[each.kind], f"{each.network}, {each.kind} of {each.samples:,}"
        axis.plot(each.intensity, each.attained / 1e9, style, color=_COLOURS[each.network], label=label)
    axis.set(
        xscale="log", yscale="log", xlim=(1, 1000), ylim=(10, 1500), xlabel="operations for each byte", ylabel="GFLOP/s"
    )
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    return drawn(figure)


if __name__ == "__main__":
    main()
