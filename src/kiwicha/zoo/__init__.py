"""Public models by name, and how they come to this machine."""
