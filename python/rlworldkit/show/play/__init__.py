"""Playing of any world by hand: a session of games, and the terminal that shows it.

``game`` and ``session`` do not depend on a screen; ``panes`` makes its texts, ``app`` is the screen, which alone needs
textual (the extra ``play``).
"""
