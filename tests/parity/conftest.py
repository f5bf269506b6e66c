"""Makes the toy world importable, in this process and in those that the mutants run in."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
