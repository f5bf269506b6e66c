"""One board as a person reads it: ``model`` says what is there, ``text`` and ``picture`` (with pygame) draw it."""
