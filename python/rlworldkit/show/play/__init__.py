"""Playing any world by hand: a session of games, and the terminal that shows it.

``game`` and ``session`` know no screen; ``panes`` says what stands on it, ``app`` is the screen. Only
``app`` and ``dialogs`` need textual (the extra ``play``).
"""
