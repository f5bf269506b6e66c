"""``python -m toy_world`` is Orchard's console command."""

from rlworldkit.cli.app import main
from toy_world.adapter import GAME

raise SystemExit(main(GAME))
