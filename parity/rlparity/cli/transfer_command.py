"""The command ``rlparity transfer``."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing

from rich.console import Console

from rlparity.agent import Policy
from rlparity.cli.commands import progress_bar
from rlparity.core.guard import GuardedEngine
from rlparity.core.prices import changed_prices, priced
from rlparity.core.settings import Settings
from rlparity.core.source_specs import agent_policy
from rlparity.engines.registry import load_pair, load_world, world_spec
from rlparity.errors import UsageError, install_command
from rlparity.io.console import Answer
from rlparity.io.table import Records
from rlparity.tools.documents import TransferDocument
from rlparity.tools.transfer import EQUIVALENT, TRAINING_GAMES, equivalence_tests, reason
from rlparity.world import World


def transfer(options: Namespace) -> Answer:
    """Train policies on one engine and test whether they do as well on another.

    Each policy plays the same seeds on both engines, and acts on the observations of each. A mean return, length or
    share of endings is equivalent if a difference larger than the margin is excluded (two one-sided tests at 5%). If
    results vary widely, up to ten times as many games are played, so that equal engines are found to be equivalent in
    95% of all runs.

    Examples:
        rlparity transfer --world my_module:WORLD original port
        rlparity transfer gym:CartPole-v1 gymnax:CartPole-v1
        rlparity transfer --world my_module:WORLD original port --agent checkpoint.npz
    """
    given = options.a, options.b
    spec = world_spec(options.world, given)
    world, _, engines = load_pair(priced(load_world(spec), options), given, spec=spec)
    if engines[0] == engines[1]:
        raise UsageError(f"a policy transfers from {engines[0]} to itself: name another engine.")
    if world.action_space is not None or world.players > 1:
        raise UsageError(f"world '{world.name}' has no single player with numbered actions, which transfer needs.")
    settings = Settings(
        steps=options.steps, games=options.games, seed=options.seed, invalid=0.0, timeout=options.timeout
    )
    training_steps = -(-options.train_steps // TRAINING_GAMES)  # of each game
    total = options.steps * len(options.agent) or (options.steps + training_steps) * options.policies
    with progress_bar(options.json, "training and playing", total) as advance:
        agents = [(str(name), agent_policy(world, name)) for name in options.agent]
        policies = agents or _trained(world, engines[0], options, advance)
        tests, ended = equivalence_tests(world, engines, policies, settings, options.margin, advance)
    if not any(ended):
        raise UsageError(f"no game ended on both engines within {options.steps} steps: give more --steps.")
    sentence = reason(tests, options.margin)
    document = TransferDocument(
        equivalent=all(test.result == EQUIVALENT for test in tests),
        reason=sentence,
        world=world.name,
        prices=changed_prices(world),
        engines=engines,
        **{name: getattr(options, name) for name in ("games", "steps", "seed", "margin")},
        ended=ended,
        tests=tests,
    )

    def show(console: Console) -> None:
        header = "policy", "of an episode", *engines, "difference [90%]", "margin", "result"
        rows = [
            (each.policy, each.measure, each.expected, each.observed, each.difference, each.margin, each.result)
            for each in tests
        ]
        Records("transfer", "What a policy gets on each engine", header, rows, most=None).print(console)
        played = sum(test.games for test in tests if test.measure == "return")
        console.print(f"{sum(ended):,} of {played:,} games ended on both engines. {sentence}", soft_wrap=True)

    return Answer(document, show, int(not document.equivalent))


def _trained(
    world: World, engine: str, options: Namespace, advance: Callable[[], object]
) -> Iterator[tuple[str, Policy]]:
    try:
        from rlparity.tools.learner import learned_policy
    except ImportError as error:
        install = install_command("rl-parity[transfer]")
        raise UsageError(f"training needs sb3-contrib ({error}): {install}, or give --agent FILE.") from None
    for number in range(options.policies):
        with closing(GuardedEngine(world, engine, TRAINING_GAMES, timeout=options.timeout)) as learner:
            policy = learned_policy(world, learner, options.train_steps, options.seed + number, advance)
        yield f"policy {number + 1}", policy
