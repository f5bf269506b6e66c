"""The server of a remote engine: plays one engine for the process at the other end of its pipes."""

import os
import select
import sys
import threading
import time
from argparse import Namespace
from typing import Any

from rlparity.core.guard import no_json
from rlparity.engine import BatchEngine, EngineOptions
from rlparity.engines.channel import VERSION, Channel
from rlparity.engines.module_paths import world_home
from rlparity.engines.registry import engine_name, load_world, world_spec
from rlparity.engines.remote import ERRORS, describe_world
from rlparity.errors import FOREIGN_FAULTS, EngineError, UsageError
from rlparity.world import EngineFactory, World

_GRACE_SECONDS = 2.0
"""Time from the client's end to the forced end of a server that does not notice it, as in a step that hangs."""


def serve(options: Namespace) -> int:
    """Play an engine for another process, over pipes.

    Other commands start it for an engine with a place, such as port@rev:main; you do not need to run it yourself.

    Examples:
        rlparity serve --world my_module:WORLD --engine port
    """
    if sys.stdin.isatty():
        raise UsageError("serve answers another process: give --engines NAME@PLACE to a command that compares.")
    # From here on, libraries print to standard error and read from the null device.
    source, sink = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_client, args=(source,), daemon=True).start()
    spec = world_spec(options.world, [options.engine])
    world = load_world(spec, anywhere=True)  # the process that started this one chose the location
    factory, opened = world.engines[engine_name(world, options.engine)], None
    channel = Channel(os.fdopen(source, "rb"), os.fdopen(sink, "wb"))
    channel.send({"version": VERSION, "world": describe_world(world), "home": str(world_home(spec))})
    while True:
        try:
            request = channel.receive()
        except EOFError:
            break
        try:
            if opened is None:
                opened = _open(world, factory, **request)
                channel.send({"declares": True})
            else:
                channel.send(_answer(opened, **request))
        except FOREIGN_FAULTS as error:  # any error of the engine, which the client raises
            kind = next((name for name, kind in ERRORS.items() if isinstance(error, kind)), None)
            channel.send({"error": (kind, f"{error}" if kind else f"{type(error).__name__}: {error}")})
    if opened is not None:
        opened.close()
    return 0


def _end_with_client(source: int) -> None:
    """End this process once the client has closed its pipe, whatever this process is doing."""
    hung_up = select.poll()
    hung_up.register(source, 0)
    hung_up.poll()
    time.sleep(_GRACE_SECONDS)
    os._exit(EngineError.exit_code)


def _open(
    world: World, factory: EngineFactory, games: int, options: dict[str, Any], prices: list[str] | None
) -> BatchEngine:
    """Open an engine with the given options, else the defaults; ``prices``: names of the prices that the client has."""
    if prices not in (None, [price.name for price in world.prices]):
        raise EngineError("the served world has other prices: leave those of this one as they are.")
    values = options.pop("prices", None)
    return factory(games, EngineOptions(**options, prices=values and tuple(values)))


def _answer(engine: BatchEngine, call: str, given: list[Any], readings: list[str]) -> dict[str, Any]:
    result = getattr(engine, call)(*given)
    if call == "get_state" and (fault := no_json(result)):  # the client would not see it after JSON encoding
        raise EngineError(f"it gives {fault}: its get_state must convert it.")
    return {"result": result, "readings": {name: getattr(engine, name)() for name in readings}}
