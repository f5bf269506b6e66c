"""``python -m orchard`` is Orchard's console command."""

from orchard.world import WORLD
from rlworldkit.cli.app import main

raise SystemExit(main(WORLD))
