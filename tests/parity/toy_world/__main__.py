"""``python -m toy_world`` is Orchard's console command."""

from toy_world.adapter import GAME
from worldkit.cli.app import main

raise SystemExit(main(GAME))
