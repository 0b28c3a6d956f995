"""The unit for steps of LSTMs."""
