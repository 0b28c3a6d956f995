"""From layers of a network to lists of the engine."""
