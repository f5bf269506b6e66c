"""The documented door to whole updates; `worldkit.purejaxrl.update` has them."""

from worldkit.purejaxrl.update import *  # noqa: F403
