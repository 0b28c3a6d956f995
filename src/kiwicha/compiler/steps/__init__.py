"""From calls to a Program: their order, the memory that they need, and their bytes."""
