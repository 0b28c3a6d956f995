"""The system on chip, for the simulation and for boards."""
