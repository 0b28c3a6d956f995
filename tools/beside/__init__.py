"""Two models beside each other on the simulated system: person detection, and a wake word."""
