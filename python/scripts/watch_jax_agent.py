"""Watch a trained agent play; the same command as ``hackmatrix watch``."""

import sys

from hackmatrix.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["watch", *sys.argv[1:]]))
