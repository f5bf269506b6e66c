"""How well somebody plays: whole episodes on either engine, and what they consisted of."""
