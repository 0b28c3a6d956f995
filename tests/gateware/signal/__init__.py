"""Tests of the unit for frames of sound."""
