"""Where the cycles and bytes of a simulated inference went."""
