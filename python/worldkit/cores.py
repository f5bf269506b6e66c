"""The cores of this machine."""

import os


def available_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_of_cores(processes: int) -> int:
    """The number of cores for each of so many processes, at least one."""
    return max(1, available_cores() // processes)
