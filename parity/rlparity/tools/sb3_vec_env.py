"""What all vector environments of Stable-Baselines3 over a batch of games have in common."""

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices


class BatchVecEnv(VecEnv):
    """A vector environment whose games have masks and are no objects of their own.

    spec: of the games, None where Gymnasium registers none.
    """

    render_mode: str | None = None
    spec: Any = None

    @abstractmethod
    def action_masks(self) -> NDArray[Any]:
        """The valid actions now, bool (n, actions)."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether every game has an attribute or method of this name."""
        return attr_name in ("action_masks", "render_mode", "spec")

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The render mode and the spec of games; raises AttributeError for anything else."""
        if attr_name not in ("render_mode", "spec"):
            raise AttributeError(f"the games of {type(self).__name__} have no attribute {attr_name!r}")
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ANN401 - SB3's
        """The games have nothing to set: raises AttributeError."""
        raise AttributeError(f"the games of {type(self).__name__} have no attribute {attr_name!r} to set")

    def env_method(self, method_name: str, *_: Any, indices: VecEnvIndices = None, **__: Any) -> list[Any]:  # noqa: ANN401
        """``action_masks`` of games, as MaskablePPO asks for them; raises AttributeError for anything else."""
        if method_name != "action_masks":
            raise AttributeError(f"the games of {type(self).__name__} have no method {method_name!r}")
        masks = self.action_masks()
        return [masks[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """No game is wrapped in anything."""
        return [False] * len(list(self._get_indices(indices)))
