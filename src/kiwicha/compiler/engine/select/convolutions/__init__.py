"""Convolutions in the engine's terms: forms that compute one, and jobs that share its work."""
