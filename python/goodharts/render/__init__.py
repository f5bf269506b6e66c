"""One game as a person reads it: ``text`` and ``picture`` draw its state.

``text`` needs nothing but the core; ``picture`` needs pygame (the extra ``goodharts``).
"""
