"""Train an agent on the JAX engine; the same command as ``hackmatrix train``."""

import sys

from hackmatrix.cli.train import main

if __name__ == "__main__":
    sys.exit(main())
