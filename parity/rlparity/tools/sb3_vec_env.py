"""Base class of the Stable-Baselines3 vector environments over a batch of games."""

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices


class BatchVecEnv(VecEnv):
    """Vector environment whose games have action masks, but no env objects.

    spec: the Gymnasium spec of the games, None where they are not registered.
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
        """Return ``render_mode`` or ``spec`` of games; raises AttributeError for any other name."""
        if attr_name not in ("render_mode", "spec"):
            raise AttributeError(f"the games of {type(self).__name__} have no attribute {attr_name!r}")
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ANN401 - SB3's
        """Raise AttributeError: games have no attribute to set."""
        raise AttributeError(f"the games of {type(self).__name__} have no attribute {attr_name!r} to set")

    def env_method(self, method_name: str, *_: Any, indices: VecEnvIndices = None, **__: Any) -> list[Any]:  # noqa: ANN401
        """Call ``action_masks`` of games, as MaskablePPO does; raises AttributeError for any other method."""
        if method_name != "action_masks":
            raise AttributeError(f"the games of {type(self).__name__} have no method {method_name!r}")
        masks = self.action_masks()
        return [masks[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return False for every game: none is wrapped."""
        return [False] * len(list(self._get_indices(indices)))
