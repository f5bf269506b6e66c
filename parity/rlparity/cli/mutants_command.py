"""The command ``rlparity mutants``."""

from argparse import Namespace
from dataclasses import replace

from rlparity.cli.commands import progress_bar, run_settings
from rlparity.core.prices import priced
from rlparity.engines.registry import load_world, world_spec
from rlparity.errors import UsageError
from rlparity.io.console import Answer
from rlparity.mutant import MutationBench
from rlparity.tools.documents import MutantsDocument
from rlparity.tools.generated import generated_mutants
from rlparity.tools.mutant_judges import LockstepJudge, PytestJudge, project_bench
from rlparity.tools.mutants import (
    SAME,
    SURVIVED,
    UNBUILDABLE,
    UNSOUND,
    Judge,
    MutantVerdict,
    chosen_benches,
    chosen_mutants,
    run_mutants,
)
from rlparity.tools.printing import print_mutants
from rlparity.world import World


def mutants(options: Namespace) -> Answer:
    """Plant faults in a copy of an engine or a project, and check that they are caught.

    A mutant is a small wrong edit of the source, which the world lists for an engine. A mutant that survives shows a
    fault that the comparison, or the tests, would miss.

    Examples:
        rlparity mutants --world my_module:WORLD
        rlparity mutants --world my_module:WORLD --engine port --generate 300
        rlparity mutants --tests mutants.toml --jobs 4
    """
    judge: Judge
    if options.tests is not None:
        if options.world or options.engine or options.ledger or options.generate:
            raise UsageError(
                "the mutants of --tests belong to no world: leave --world, --engine, --ledger and --generate out."
            )
        name = str(options.tests)
        judge, chosen = PytestJudge(), chosen_mutants([project_bench(options.tests)], options.only)
    else:
        spec = world_spec(options.world, [options.engine] if options.engine else ())
        world = priced(load_world(spec), options)
        name, judge = world.name, LockstepJudge(world, spec, run_settings(options))
        if options.generate:
            world = replace(world, benches=tuple(_generated(world, bench, options) for bench in world.benches))
        chosen = chosen_benches(world, options.engine, options.only)
    verdicts: list[MutantVerdict] = []
    with progress_bar(options.json, "mutants", sum(len(mutants) for _, mutants in chosen)) as advance:
        for bench, planted in chosen:
            verdicts += run_mutants(bench, planted, judge, options.jobs, advance)
    judged = [verdict for verdict in verdicts if verdict.is_judged]
    caught = sum(verdict.noticed for verdict in judged)
    document = MutantsDocument(
        world=name,
        mutants=verdicts,
        caught=caught,
        judged=len(judged),
        share=caught / len(judged) if judged else 0.0,
        survivors=[verdict.name for verdict in judged if verdict.result == SURVIVED],
        unbuildable=[verdict.name for verdict in verdicts if verdict.result in (UNBUILDABLE, UNSOUND)],
        same_program=[verdict.name for verdict in verdicts if verdict.result == SAME],
    )
    wanted = len(judged) if options.generate else len(verdicts)  # generated mutants may fail to build
    is_well = bool(judged) and caught == wanted
    return Answer(document, lambda console: print_mutants(verdicts, caught, len(judged), console), 0 if is_well else 1)


def _generated(world: World, bench: MutationBench, options: Namespace) -> MutationBench:
    if options.engine not in (None, bench.engine):
        return bench
    return replace(bench, mutants=generated_mutants(world, bench, options.generate, options.seed))
