"""A trained agent at work: ``brain`` lets it live as `rlworldkit.watch` plays games, ``picture`` draws its inside."""
