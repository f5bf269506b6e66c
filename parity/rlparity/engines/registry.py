"""Registry of worlds: find worlds and open their engines."""

from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from rlparity.adapters.named import is_named
from rlparity.adapters.pairing import Pairing
from rlparity.core.guard import DEFAULT_TIMEOUT, GuardedEngine
from rlparity.core.trace import Trace, check_actions
from rlparity.engine import GameSeeds
from rlparity.engines.module_paths import module_of, require_own_world
from rlparity.engines.places import environments, with_remote_engines
from rlparity.engines.tape import TAPE
from rlparity.errors import FOREIGN_FAULTS, UsageError, quoted, unknown
from rlparity.views import AutoResetBatch, Engine
from rlparity.world import GROUP, PLACE, World, imported


def world_spec(spec: str | None, engines: Sequence[str] = ()) -> str:
    """Resolve ``--world``: the given world, the only registered one, or the only one with these engines.

    Engines that are names of environments form a world of their own, whose spec is these names.

    Where several worlds are registered, they are imported to learn their engines; one that cannot be is left out.
    Raises UsageError when no world, or more than one, could be meant.
    """
    if spec is not None:
        return spec
    if any(map(is_named, engines)):
        return ",".join(engine for engine in engines if not engine.startswith(TAPE))
    names = sorted(registered())
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(
            "no world is registered: `rlparity init FOLDER` writes one, --world module:attribute names one of yours, "
            "and --engines gym:ID,gymvec:ID compares environments of libraries by their names."
        )
    if not engines:
        raise UsageError(f"several worlds are registered ({', '.join(names)}): give --world NAME.")
    having, faults = [], []
    without_places = {engine.partition(PLACE)[0] for engine in engines if not engine.startswith(TAPE)}
    for name in names:
        try:
            if without_places <= set(load_world(name).engines):
                having.append(name)
        except UsageError as error:
            faults.append(str(error).rstrip("."))
    if len(having) == 1:
        return having[0]
    wanted = ",".join(engines)
    if having:
        raise UsageError(f"several worlds have the engines {wanted} ({', '.join(having)}): give --world NAME.")
    known = "; ".join([f"registered: {', '.join(names)}", *faults])
    raise UsageError(f"no registered world has the engines {wanted} ({known}): give --world NAME or other engines.")


def load_world(spec: str | World | None = None, *, anywhere: bool = False) -> World:
    """Load a world by name, or by ``module:attribute`` in the working directory or on the path; a World stays as it is.

    Raises UsageError where there is none or it cannot be imported, and, without ``anywhere``, where the repository of
    the working directory has the world, but another copy is imported.
    """
    if isinstance(spec, World):
        return spec
    name = world_spec(spec)
    if any(map(is_named, name.split(","))):
        world = environments(name.split(","))
        for each in name.split(","):
            if not anywhere and PLACE not in each:
                require_own_world(each, module_of(each))
        return world
    if not is_module(name) and name not in registered():
        raise UsageError(
            f"there is no world {unknown(name, registered())}: give module:attribute, or one that is {_known()}."
        )
    return _loaded(name, anywhere=anywhere)


def load_named_in(path: Path, name: str) -> World:
    """Load the world that a file names, if it is registered: reading a file must not run code of the file's choice.

    Raises UsageError when there is none such, or it cannot be imported.
    """
    if name not in registered():
        raise UsageError(
            f"{path} names the world {quoted(name)}, which is not registered ({_known()}), and files must not "
            "import modules: give --world NAME or module:attribute."
        )
    return _loaded(name)


def is_module(spec: str) -> bool:
    """Tell a ``module:attribute`` from the name of a registered world."""
    return ":" in spec


def _loaded(name: str, *, anywhere: bool = False) -> World:
    try:
        world: object = imported(name) if is_module(name) else registered()[name].load()
    except FOREIGN_FAULTS as error:  # importing runs the world's own code
        fault = f"{type(error).__name__}: {error}"
        module = name.partition(":")[0]
        is_missing = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        advice = "go to its folder, or name that in PYTHONPATH" if is_missing else "fix it first"
        raise UsageError(f"world '{name}' cannot be imported ({fault}): {advice}.") from error
    if not isinstance(world, World):
        remedy = "end it with .world()" if isinstance(world, Pairing) else "register one"
        raise UsageError(f"world '{name}' is of type {type(world).__name__}, not a rlparity.World: {remedy}.")
    if not anywhere:
        require_own_world(name, (name if is_module(name) else registered()[name].value).partition(":")[0])
    return world


def _known() -> str:
    return f"registered: {', '.join(sorted(registered())) or 'none'}"


def registered() -> dict[str, EntryPoint]:
    """Worlds that installed packages register, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def engine_name(world: World, name: str) -> str:
    """Return ``name`` if the world has such an engine; raises UsageError otherwise."""
    if name not in world.engines:
        if name.startswith(TAPE):
            raise UsageError(f"{quoted(name)} is a tape, which plays no other games: name engines with --engines.")
        if PLACE in name:
            raise UsageError(
                f"{quoted(name)} is an engine in another process: name it with --engines to have it started."
            )
        known = ", ".join(world.engines)
        raise UsageError(f"world '{world.name}' has no engine {unknown(name, world.engines)}: choose among {known}.")
    return name


def load_pair(
    given: World | str, engines: Sequence[str] | None = None, *, spec: str | None = None, one_will_do: bool = False
) -> tuple[World, str, tuple[str, str]]:
    """Load a world; returns it, its ``--world`` name and two engines to compare, by default the first two.

    ``spec``: the ``--world`` name of a given world, by default its own name. ``one_will_do``: compare the engine of a
    world with a single engine to itself. Engines may have a place. Raises UsageError where the world lacks one.
    """
    world = load_world(given)
    spec = spec or (given if isinstance(given, str) else given.name)
    if engines is not None:
        world = with_remote_engines(world, spec, engines)
        one, other = engines
        return world, spec, (engine_name(world, one), engine_name(world, other))
    names = list(world.engines)
    if len(names) < (1 if one_will_do else 2):
        known = ", ".join(names) or "none"
        again = "register another one, or give one twice with --engines to see whether it repeats itself"
        raise UsageError(f"world '{world.name}' has too few engines ({known}): {again}.")
    return world, spec, (names[0], names[1 % len(names)])


def load_traced(
    trace: Trace,
    path: Path,
    given: World | str | None,
    engines: Sequence[str] | None,
    prices: Mapping[str, object] | None = None,
) -> tuple[World, tuple[str, str]]:
    """Load the world of the trace in ``path``, with changed ``prices``, and the trace's engines or the given ones.

    Raises UsageError where there is no such world or engine, or the world lacks an action.
    """
    world = load_world(given) if given else load_named_in(path, trace.world)
    # a trace may not choose what program is run, so only a person may name places
    priced, spec = world.with_prices(prices or {}), given if isinstance(given, str) else trace.world
    world = with_remote_engines(priced, spec, engines or ())
    one, other = (engine_name(world, name) for name in engines or trace.engines)
    check_actions(world, trace, path)
    return world, (one, other)


def open_engine(world: str, engine: str, *, timeout: float = DEFAULT_TIMEOUT) -> Engine:
    """Open one game of a registered world. ``timeout``: seconds that an answer may take before EngineError.

    The engine may have a place (``rlparity.engines.places``).
    """
    return Engine(*_opened(world, engine, 1, timeout))


def open_batch(world: str, engine: str, games: int, *, timeout: float = DEFAULT_TIMEOUT) -> AutoResetBatch:
    """Open ``games`` parallel games of a registered world, each followed by the next when it ends."""
    return AutoResetBatch(*_opened(world, engine, games, timeout))


def _opened(world: str, engine: str, games: int, timeout: float) -> tuple[GuardedEngine, int, GameSeeds]:
    known = with_remote_engines(load_world(world), world, [engine])
    batch = GuardedEngine(known, engine_name(known, engine), games, timeout=timeout)
    return batch, len(known.actions), known.game_seeds
