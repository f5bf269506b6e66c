"""Watch a trained MaskablePPO agent play; the same command as ``hackmatrix watch-sb3``."""

import sys

from hackmatrix.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["watch-sb3", *sys.argv[1:]]))
