"""The old name of rlworldkit: each of its modules is that of the new name. It goes with the release after this one."""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import rlworldkit


class _OldName(MetaPathFinder, Loader):
    """Finds ``worldkit.x``, which is the module ``rlworldkit.x`` itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Claim the modules of the old name."""
        return ModuleSpec(fullname, self) if fullname.startswith("worldkit.") else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in the place of this one."""
        sys.modules[module.__name__] = importlib.import_module(f"rl{module.__name__}")


sys.meta_path.insert(0, _OldName())
sys.modules[__name__] = rlworldkit
warnings.warn("worldkit is named rlworldkit now: import that.", DeprecationWarning, stacklevel=2)
