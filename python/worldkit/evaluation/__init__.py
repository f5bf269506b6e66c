"""How well somebody plays a world: whole episodes on any of its engines, and what they consisted of."""
