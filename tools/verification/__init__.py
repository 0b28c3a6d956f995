"""Measurements for the page on verification: ``python -m tools.verification.NAME`` for each."""
