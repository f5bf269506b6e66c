"""Tolerance of a field that two engines need not agree on exactly."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of a field: values count as equal within any of the three distances.

    absolute: the distance itself. relative: as a share of the larger magnitude. ulps: in units in the last place, of
        the narrower type where the two sides have different ones.
    any_dtype: the sides may have different types; only for a whole field. ignored: the field is not compared at all.
    reason: for reports.
    """

    absolute: float = 0.0
    relative: float = 0.0
    ulps: int = 0
    any_dtype: bool = False
    ignored: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a negative or NaN distance."""
        if not all(distance >= 0 for distance in (self.absolute, self.relative, self.ulps)):
            raise ValueError(f"a tolerance of {self} is none: give distances of at least 0")

    def __str__(self) -> str:
        """The distances and the reason, such as ``within 2 ulps (sine)``."""
        if self.ignored:
            return "ignored" + (f" ({self.reason})" if self.reason else "")
        distances = {"absolute": self.absolute, "relative": self.relative, "ulps": self.ulps}
        within = " or ".join(f"{value:g} {name}" for name, value in distances.items() if value) or "0"
        types = ", any dtype" if self.any_dtype else ""
        return f"within {within}{types}" + (f" ({self.reason})" if self.reason else "")
