"""Assertions for tests: that two engines agree in the same games, and give the recorded rewards."""

import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from rlparity.core import prices
from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.ledger import read_ledger
from rlparity.core.lockstep import Outcome, Settings, run
from rlparity.core.trace import Case, Trace
from rlparity.engines.registry import load_pair, load_world
from rlparity.engines.tape import Tape
from rlparity.errors import UsageError
from rlparity.io.console import plain_text
from rlparity.tools.coverage import coverage_of, require_marks
from rlparity.tools.finding import investigate, replayed
from rlparity.tools.printing import print_rewards, print_run
from rlparity.tools.report import print_report
from rlparity.tools.rewards import golden_folder, replay_golden, rewards_document
from rlparity.world import World

TRACE = Path("rlparity-report/trace.json")


def assert_lockstep(
    world: World | str,
    engines: tuple[str, str] | None = None,
    *,
    source: str = "uniform",
    steps: int = 200,
    games: int = 32,
    seed: int | None = None,
    auto_reset: bool = False,
    coverage: float | Collection[str] | None = None,
    ledger: Path | str | None = None,
    draw_prices: float = 0.0,
    budget_seconds: float = float("inf"),
    infos: bool = False,
    strict: bool = False,
    trace: Path = TRACE,
) -> Outcome:
    """Play the same games on two engines and compare everything, as ``rlparity run`` does.

    Args:
        world: a World, or its spec as for ``--world``, so that the command in the report finds it.
        engines: the reference and the other engine; None: the world's first two.
        source: as ``--source``: uniform, directed, explore, policy:FILE or traces:DIR.
        steps: number of steps of each game.
        games: number of games.
        seed: seed of games and choices; None: a random one, which the report names.
        auto_reset: step with the engines' own auto-reset.
        coverage: compare rule marks too. A number: the share of the world's rules that must be hit. A list: the rules
            and marks that need not be hit; all others must be.
        ledger: file of known differences (``rlparity.core.ledger``).
        draw_prices: share of seeds for which the prices of the reward are drawn as well; not against a tape.
        budget_seconds: time after which a run ends, whatever the number of steps.
        infos: as ``--infos``.
        strict: as ``--strict``.
        trace: file for the shrunk case; its page is written beside it.

    Raises:
        AssertionError: the verdict fails, with the report of a shrunk case, or too few rules were hit.
        UsageError, EngineError: there is no such world, engine, source or ledger, or an engine fails.
    """
    __tracebackhide__ = True
    world, spec, pair = load_pair(world, engines)
    if coverage is not None:
        require_marks(world)
    seed = secrets.randbits(64) if seed is None else seed
    if draw_prices and isinstance(world.engines[pair[0]], Tape):
        raise UsageError(f"{pair[0]} has the prices that it was recorded at: leave draw-prices out.")
    world = prices.draw_prices(world, seed, draw_prices)
    known = None if ledger is None else read_ledger(Path(ledger))
    how: dict[str, Any] = {"auto_reset": auto_reset, "budget_seconds": budget_seconds, "infos": infos, "ledger": known}
    settings = Settings(source, steps, games, seed, marks=coverage is not None, **how)
    outcome = run(world, pair, settings)
    if outcome.verdict.exit_code(strict=strict):
        alike, known = outcome.divergences[:1], outcome.ledger
        findings = [investigate(world, spec, pair, (each,), trace, settings=settings, ledger=known) for each in alike]
        text = plain_text(lambda console: print_run(world, pair, outcome, findings, console))
        raise AssertionError(f"{text}Seed: {seed}.")
    if coverage is not None and (missed := _missed(world, outcome, coverage)):
        raise AssertionError(f"{pair[0]} and {pair[1]}: {missed}. Seed: {seed}.")
    return outcome


def _missed(world: World, outcome: Outcome, coverage: float | Collection[str]) -> str:
    """Describe the rules and marks that a run should have hit but did not; empty where there are none."""
    found = coverage_of(world, outcome.marks)
    never, rules = found.never, len(found.rules)
    if isinstance(coverage, Collection):
        silent = (mark for mark in found.silent_marks if world.marks[mark] not in {*coverage, *never})
        missing = [name for name in (*never, *silent) if name not in coverage]
    else:
        missing = list(never) if rules - len(never) < coverage * rules else []
    return f"{rules - len(never)} of {rules} rules hit, never hit: {', '.join(missing)}" if missing else ""


def assert_case(
    world: World | str,
    engines: tuple[str, str],
    case: Case,
    *,
    components: Mapping[str, int | float] | None = None,
    prices: Mapping[str, object] | None = None,
) -> None:
    """Play one game on two engines, which must agree at every step.

    Args:
        world: a World, or its spec as for ``--world``.
        engines: the reference and the other engine.
        case: the game.
        components: reward components that the reference must give in the last step, by name, in the world's units.
        prices: prices of the reward, by name, that override the game's own.

    Raises:
        AssertionError: the engines differ, or the reference gives other components.
        UsageError, EngineError: as ``assert_lockstep``, and where an engine refuses the start.
    """
    __tracebackhide__ = True
    spec = world if isinstance(world, str) else None
    world, spec, pair = load_pair(load_world(world).with_prices(prices or {}), engines, spec=spec)
    report = replayed(world, Trace(spec, pair, case), "the case", pair, timeout=DEFAULT_TIMEOUT)
    last = report.moments[-1]
    if last.differences:
        raise AssertionError(plain_text(lambda console: print_report(report, console)))
    earned = dict(zip(world.components, last.components[0], strict=True)) if last.components else {}
    if components is not None and earned != dict(components):
        raise AssertionError(f"{pair[0]} earns {earned} in the last step, not {dict(components)}.")


def assert_golden(world: World | str, engines: tuple[str, str] | None = None, folder: Path | None = None) -> None:
    """Replay golden episodes on two engines, which must both give the recorded rewards.

    ``folder``: of the episodes; None: the world's own. Raises AssertionError, and other errors as ``assert_lockstep``.
    """
    __tracebackhide__ = True
    world, _, pair = load_pair(world, engines, one_will_do=True)
    found = rewards_document(world, replay_golden(world, pair, golden_folder(world, folder)))
    if found.changes or found.disagreements:
        raise AssertionError(plain_text(lambda console: print_rewards(world, pair, found, console)).rstrip())
