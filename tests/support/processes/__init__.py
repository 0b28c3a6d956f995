"""Processes that tests start, and what they execute."""
