"""Families of architectures: functions from an empty `Network` to its outputs."""
