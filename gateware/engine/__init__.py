"""The engine: what fetches its own jobs, weights and activations."""
