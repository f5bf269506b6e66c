"""With the core alone, none of the extras installed, every command can at least say what it would do."""

import os
import subprocess
import sys
from pathlib import Path

BLOCKED = [
    "dash",
    "gymnasium",
    "gymnax",
    "imageio_ffmpeg",
    "moviepy",
    "pygame",
    "sb3_contrib",
    "stable_baselines3",
    "tensorboard",
    "textual",
    "torch",
    "wandb",
]
CHECK = f"""
import runpy, sys
for name in {BLOCKED}:
    sys.modules[name] = None
from hackmatrix.cli.game import GAME
from hackmatrix.cli.main import main
from worldkit.cli.app import KIT_COMMANDS
def ask(command, call):
    try:
        code = call()
    except SystemExit as stop:
        code = stop.code
    assert not code, command
for command in (*KIT_COMMANDS, *GAME.commands, "version"):
    ask(command, lambda: main([command, "--help"] if command != "version" else [command]))
for script in sys.argv[1:]:
    sys.argv = [script, "--help"]
    ask(script, lambda: runpy.run_path(script, run_name="__main__"))
"""


def test_help_needs_none_of_the_extras(root: Path) -> None:
    scripts = [
        str(root / "python" / "scripts" / name) for name in ("train.py", "watch_jax_agent.py", "watch_trained_agent.py")
    ]
    answer = subprocess.run(
        [sys.executable, "-c", CHECK, *scripts],
        env={**os.environ, "PYTHONPATH": str(root / "python")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("usage: hackmatrix watch ") == 2
    assert answer.stdout.count("usage: hackmatrix watch-sb3 ") == 2
