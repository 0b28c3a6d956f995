"""The self-test of a board: memory, instruction tier and engine, over its serial line."""
