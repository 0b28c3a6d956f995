"""Reference executor, LiteX SoC, Verilator harness and cocotb benches."""
