"""The rules read once more, in plain Python: slow, literal, and independent of the engines.

Each chapter's functions change the ``Game`` they are given. Random words come from
``randomness.word``. Nothing here is shared with an engine, so an agreement is evidence; W2 is
the reading of ``hackmatrix explain``, which is as independent of both.
"""
