"""Layers that make one value of many, in the engine's terms: means and pools."""
