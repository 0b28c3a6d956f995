"""Layers that only move data, in the engine's terms."""
