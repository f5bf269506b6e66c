"""``python -m toy_world`` is Orchard's console command."""

from rlworldkit.cli.app import main
from toy_world.adapter import WORLD

raise SystemExit(main(WORLD))
