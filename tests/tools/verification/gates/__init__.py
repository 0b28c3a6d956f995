"""Tests of netlists beside their sources."""
