"""``python -m rlparity`` is the command ``rlparity``."""

from rlparity.cli.main import main

raise SystemExit(main())
