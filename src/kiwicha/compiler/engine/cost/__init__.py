"""Cycle model of the engine."""
