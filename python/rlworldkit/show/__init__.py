"""What people see of any world: games that are watched (``watch``) or played (``play``), and pages of them."""
