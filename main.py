"""``python main.py brain-view ...``: the command ``goodharts`` from a clone, whatever the working directory."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT)]

if __name__ == "__main__":
    try:
        from goodharts.cli.main import main
    except ModuleNotFoundError as error:
        print(f"{error.name} is missing: run `make setup` once, and then .venv/bin/python main.py.", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
