"""The custom function unit on a board without a CPU: build it, and test it."""
