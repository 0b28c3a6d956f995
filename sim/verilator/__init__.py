"""The simulated system: Verilated, driven by a harness in C++."""
