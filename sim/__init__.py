"""Simulation: reference executor, system on chip, Verilator, profiles."""
