"""Measurements for the page on verification."""
