"""Models for tests: chosen, random, and of one operator."""
