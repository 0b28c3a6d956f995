"""The custom function unit without a CPU: instructions come over a serial line."""
