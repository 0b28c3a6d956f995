"""Steps of the CPU: which kernel, and what it costs."""
