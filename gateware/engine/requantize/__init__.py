"""The engine's requantizer."""
