"""Train MaskablePPO on the Swift engine; the same command as ``hackmatrix train-sb3``."""

import sys

from hackmatrix.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["train-sb3", *sys.argv[1:]]))
