"""The colours of this world: food and poison differ in lightness too, whatever colours one sees."""

FOOD_COLOUR = (244, 203, 92)
POISON_COLOUR = (222, 98, 184)
