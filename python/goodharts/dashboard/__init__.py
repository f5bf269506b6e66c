"""A page that shows a training while it runs, and has a button that ends it cleanly."""

from goodharts.dashboard.server import Dashboard

__all__ = ["Dashboard"]
