"""The simulated system in a browser."""
