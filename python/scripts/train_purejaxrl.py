"""Train an agent on the JAX engine; the same command as ``hackmatrix train``."""

import sys

from hackmatrix.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
