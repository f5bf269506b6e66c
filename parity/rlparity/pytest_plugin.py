"""Pytest plugin that runs the comparisons of ``[tool.rlparity]`` as tests ``rlparity::WORLD::ENGINES::SOURCE``.

A project lists this plugin in pytest's ``required_plugins``, so that pytest fails where the plugin is not loaded,
instead of passing without a comparison. With xdist, ``--dist loadscope`` runs all tests of a pair of engines in one
process, where they share compiled programs.
"""

import contextlib
import random
import re
import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rlparity.core.pair import Pair
from rlparity.engines.registry import load_pair, open_engine
from rlparity.errors import EngineError, ParityError, UsageError
from rlparity.io.arguments import SEED
from rlparity.tools.project import DISTRIBUTION, GOLDEN, PROJECT, REQUIRE_PLUGIN, ProjectCheck, read_checks, read_tables
from rlparity.world import World

ROOT = "rlparity"
"""First part of every node id."""
_CHECKS = pytest.StashKey[list[ProjectCheck]]()
_IS_WHOLE = pytest.StashKey[bool]()
"""Whether the whole table was selected, not only some of its tests."""
_SEED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--rlparity-seed``."""
    text = "seed of the tests of [tool.rlparity] (default: a new one)"
    parser.getgroup(ROOT).addoption("--rlparity-seed", metavar="N", type=SEED, help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "rlparity: compares two engines of a world, as [tool.rlparity] says")


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Read the table before anything is collected, so that an error in it is reported as one sentence."""
    path = config.rootpath / PROJECT
    try:
        if config.option.help or (tables := _tables(config)) is None:
            return
        # pytest takes the part of a node id before "::" for a file
        config.args[:] = [re.sub(f"^{ROOT}::", lambda _: f"{path}::", argument) for argument in config.args]
        if config.args_source is config.ArgsSource.TESTPATHS:
            config.args.append(str(path))
        paths = {config.invocation_params.dir / argument.split("::")[0]: argument for argument in config.args}
        chosen = {argument for given, argument in paths.items() if path.is_relative_to(given)}
        config.stash[_CHECKS] = []
        if chosen:
            with contextlib.chdir(config.rootpath):
                config.stash[_CHECKS] = read_checks(tables)
            config.stash[_IS_WHOLE] = any("::" not in argument for argument in chosen)
            seed = getattr(config, "workerinput", {}).get(ROOT, config.option.rlparity_seed)
            config.stash[_SEED] = secrets.randbits(32) if seed is None else seed
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


def _tables(config: pytest.Config) -> dict[str, dict[str, Any]] | None:
    """Read the tables of the root folder; raises UsageError where only the working directory has some."""
    tables, here = read_tables(config.rootpath / PROJECT), config.invocation_params.dir
    if tables is None and here != config.rootpath and read_tables(here / PROJECT) is not None:
        root = f"pytest's root folder is {config.rootpath}, and [tool.rlparity] is in {here / PROJECT}"
        raise UsageError(f"{root}: add a table [tool.pytest.ini_options] there, or give --rootdir {here}.")
    return tables


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Report the seed, and warn where nothing is compared or the plugin is not required."""
    lines, seed = [], config.stash.get(_SEED, None)
    if seed is not None:
        lines.append(f"rlparity: seed {seed} (the same games again: --rlparity-seed {seed})")
        if not any(required.startswith(DISTRIBUTION) for required in config.getini("required_plugins")):
            lines.append(f"rlparity: without this plugin pytest would pass and compare nothing; {REQUIRE_PLUGIN}")
    elif _CHECKS in config.stash:
        lines.append("rlparity: the comparisons of [tool.rlparity] are not among what is tested here")
    return lines


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Raise UsageError where a comparison of the table was not collected; this runs before any deselection."""
    wanted = {check.names for check in config.stash.get(_CHECKS, [])} if config.stash.get(_IS_WHOLE, False) else set()
    found = {item.check.names for item in items if isinstance(item, ParityItem)}
    if missing := sorted("::".join((ROOT, *names)) for names in wanted - found):
        fault = f"{missing[0]}, which [tool.rlparity] declares, was not collected"
        raise pytest.UsageError(f'{fault}: do not ignore {PROJECT}; -m "not {ROOT}" leaves comparisons out.')


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - xdist ships no types
    """Pass the seed to an xdist worker."""
    node.workerinput[ROOT] = node.config.stash.get(_SEED, None)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the tests of the table from the project's ``pyproject.toml``."""
    checks = parent.config.stash.get(_CHECKS, [])
    if not checks or file_path != parent.config.rootpath / PROJECT:
        return None
    group: ParityGroup = ParityGroup.from_parent(parent, name=ROOT, path=file_path, nodeid=ROOT)
    group.checks = {check.names: check for check in checks}
    group.add_marker(ROOT)
    return group


class ParityGroup(pytest.Collector):
    """Collector of comparisons. checks: by the remaining names of their node ids."""

    checks: Mapping[tuple[str, ...], ProjectCheck]

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield one test or group for each next name."""
        for name in dict.fromkeys(names[0] for names in self.checks):
            below = {names[1:]: check for names, check in self.checks.items() if names[0] == name}
            node = (ParityItem if () in below else ParityGroup).from_parent(self, name=name)
            node.checks = below
            yield node


class ParityItem(pytest.Item):
    """Test of one comparison, run in the project's folder."""

    checks: Mapping[tuple[str, ...], ProjectCheck]

    @property
    def check(self) -> ProjectCheck:
        """The comparison to run."""
        return self.checks[()]

    def runtest(self) -> None:
        """Run the comparison; its games are seeded by the session's seed and the test's id."""
        from rlparity.testing import assert_golden, assert_lockstep  # slow to import

        check = self.check
        with contextlib.chdir(self.config.rootpath):
            for engine in {*check.optional} & {*check.engines}:
                try:
                    open_engine(check.spec, engine).close()
                except EngineError as error:
                    if not isinstance(error.__cause__, (EngineError, ImportError, OSError)):
                        raise  # the engine is broken, not missing
                    pytest.skip(str(error))
            if self.name == GOLDEN:
                assert_golden(check.spec, check.engines, **check.arguments)
            else:
                seed = random.Random(f"{self.config.stash[_SEED]} {self.nodeid}").getrandbits(64)
                trace = Path("rlparity-report", re.sub(r"[^\w.@-]+", "-", "-".join(check.names)) + ".json")
                found = assert_lockstep(check.spec, check.engines, **{"seed": seed, "trace": trace, **check.arguments})
                self.add_report_section(
                    "call", ROOT, f"{found.verdict}: {found.steps:,} steps compared in {found.seconds:.1f} s"
                )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401
        """Show the report without a traceback, and the command that repeats the test."""
        if not isinstance(excinfo.value, (AssertionError, ParityError)):
            return super().repr_failure(excinfo, style)
        return f"{excinfo.value}\nAgain: pytest {shlex.quote(self.nodeid)} --rlparity-seed {self.config.stash[_SEED]}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file of the table, and the node id as the headline of a failure."""
        return self.path, None, self.nodeid


@pytest.fixture
def rlparity_pair() -> Iterator[Callable[..., Pair]]:
    """Open a ``Pair`` that is closed after the test: ``rlparity_pair(world, ("a", "b"), games=1)``."""
    with contextlib.ExitStack() as opened:

        def open_pair(given: World | str, engines: tuple[str, str], games: int = 1, **options: Any) -> Pair:  # noqa: ANN401
            world, _, names = load_pair(given, engines)
            return opened.enter_context(Pair(world, names, games, **options))

        yield open_pair
