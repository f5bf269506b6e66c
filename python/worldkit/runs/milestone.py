"""``Milestone``: the metric that people follow in a run besides its return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Milestone:
    """A whole number by which people follow a run besides its return, such as the highest level reached.

    metric: its name among the metrics. name: what progress calls it. title, unit: those of its picture.
    least, most: the range in which it lies.
    """

    metric: str
    name: str
    title: str
    unit: str
    least: int
    most: int
