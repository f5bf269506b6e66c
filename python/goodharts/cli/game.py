"""Goodharts as its console command sees it."""

from __future__ import annotations

import importlib

from worldkit.game import Command


def _command(purpose: str, module: str) -> Command:
    """A command whose module is imported when it is called."""

    def main(argv: list[str]) -> int:
        exit_code: int = importlib.import_module(f"goodharts.cli.{module}").main(argv)
        return exit_code

    return Command(purpose, main)


COMMANDS = {
    "train": _command("train agents of one or more modes with PPO on the torch engine", "train"),
    "evaluate": _command("let trained agents live on, and count what they eat and when they die", "evaluate"),
    "compare": _command("one table and one picture of all modes", "compare"),
    "brain-view": _command("watch a trained agent: what it sees, thinks and does", "brain_view"),
}
