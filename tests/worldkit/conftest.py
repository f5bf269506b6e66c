"""Makes the toy world importable."""

import sys
from pathlib import Path

TOYS = Path(__file__).resolve().parents[1] / "parity"
sys.path.insert(0, str(TOYS))
