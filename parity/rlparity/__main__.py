"""Entry point of ``python -m rlparity``, which is the command ``rlparity``."""

from rlparity.cli.main import main

raise SystemExit(main())
