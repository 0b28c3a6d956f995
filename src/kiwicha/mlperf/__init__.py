"""MLPerf Tiny: its benchmarks, what others published, and the serial protocol of its runner."""
