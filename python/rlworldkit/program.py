"""``Program``: the console command of a world, or of a world with several modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from rlparity import UsageError, World
from rlparity.io.arguments import Parser
from rlparity.io.console import typed_command
from rlworldkit.ppo.config import TrainConfig

if TYPE_CHECKING:
    from rlworldkit.bench.records import Record
    from rlworldkit.bench.startup import Start


def measured_by(module: str, *given: object) -> Callable[[int, int], Iterable[Record]]:
    """Wrap the function ``measure`` of a module, imported when called, with ``given`` as its first arguments."""
    return lambda num_envs, repetitions: resolve_name(f"{module}:measure")(*given, num_envs, repetitions)


@dataclass(frozen=True)
class Command:
    """A subcommand: its purpose, and ``main(argv) -> exit code``, which is imported when called."""

    purpose: str
    main: Callable[[list[str]], int]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: its purpose, and ``measure(num_envs, repetitions)``, imported when called.

    ``measure`` may return an iterator that yields each record as soon as it is measured.
    games: the default number of games. needs: a package that must be installed.
    plays: whether it plays on the world's first engine, which may not be built.
    """

    purpose: str
    measure: Callable[[int, int], Iterable[Record]]
    games: int = 256
    needs: str | None = None
    plays: bool = True


@dataclass(frozen=True)
class Program:
    """A console command: its worlds, and the settings that are not part of a world. Only ``worlds`` is required.

    worlds: the world; or one world for each mode, named ``NAME-MODE``, among which ``--mode`` chooses.
    name: the name of the command, of run folders and of the W&B project; by default the first world's.
    module: ``python -m module`` runs the command; by default its name.
    library: the pip name of the library that its engine computes with; ``version`` prints its version too.
    mode_of: returns the mode of an agent's file, or of a folder of agents given the requested mode, or None if unknown.
        Traces and ONNX files name their world themselves.
    commands, benchmarks: added to rlworldkit's, or replacing them; benchmarks are given the world with its prices.
    starts: commands whose startup is measured, besides those of rlworldkit; they may play on the world's first engine.
    """

    worlds: tuple[World, ...]
    name: str = ""
    module: str = ""
    version: str = "1.0"
    library: str = "jax"
    mode_of: Callable[[Path, str | None], str | None] = lambda path, wanted: None
    commands: Mapping[str, Command] = field(default_factory=dict)
    benchmarks: Callable[[World], Mapping[str, Benchmark]] = lambda world: {}
    starts: Callable[[], Sequence[Start]] = tuple

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.world.name)
        object.__setattr__(self, "module", self.module or self.name)

    @property
    def world(self) -> World:
        """The world, or the world of the first mode."""
        return self.worlds[0]

    @property
    def modes(self) -> dict[str, World]:
        """Worlds by the name of their mode; empty if there is only one world."""
        return {world.name.removeprefix(f"{self.name}-"): world for world in self.worlds if len(self.worlds) > 1}

    @property
    def trains(self) -> bool:
        """Whether the program has rlworldkit's command ``train``."""
        return self.world.jax is not None and "train" not in self.commands

    @property
    def train_config(self) -> type[TrainConfig]:
        """The class of the settings of ``train``."""
        return train_config_of(self.world)

    def typed(self, *words: str | Path) -> str:
        """Format the command with these words as a user can type it here."""
        return typed_command(self.name, self.module, *words)

    def parser(self, command: str, description: str, epilog: str | None = None) -> Parser:
        """Make the parser of a command."""
        return Parser(prog=f"{self.name} {command}", description=description, epilog=epilog, allow_abbrev=False)

    def world_of(self, mode: str | None = None, path: Path | None = None) -> World:
        """Find the world of a mode, else the one that an agent's file or a trace is of, else the first.

        Raises UsageError if the file cannot be read, or is of another mode than the requested one.
        """
        found = self._found_mode(path, mode) if path is not None and self.modes else None
        if mode is not None and found not in (None, mode):
            raise UsageError(f"{path} is of mode {found}, not of {mode}: leave out --mode, or name another file.")
        return self.modes.get(mode or found or "", self.world)

    def _found_mode(self, path: Path, wanted: str | None) -> str | None:
        from rlparity.core.trace import read_trace
        from rlworldkit.agents.onnx_policy import WORLD, onnx_metadata
        from rlworldkit.agents.reader import ONNX

        if not path.is_file() or path.suffix not in (".json", ONNX):
            return self.mode_of(path, wanted)
        named = read_trace(path).world if path.suffix == ".json" else onnx_metadata(path).get(WORLD, "")
        if not named and wanted is None:
            raise UsageError(f"{path} does not say which mode it is of: give --mode, one of {', '.join(self.modes)}.")
        return next((mode for mode, world in self.modes.items() if named in (world.name, world.home)), None)


def train_config_of(world: World) -> type[TrainConfig]:
    """The class of the training settings of this world."""
    return world.train_config() if world.train_config else TrainConfig
