"""Helpers of the tests: test models, the oracle, the models folder."""
