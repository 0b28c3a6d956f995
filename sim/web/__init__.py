"""The simulated system in a browser: one page that needs no server."""
