"""Benches on Verilator and proofs: how they are run, and drivers of their ports."""
