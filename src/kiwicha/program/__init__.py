"""Compiled models: what they hold, their stored form, and the order of their weights."""
