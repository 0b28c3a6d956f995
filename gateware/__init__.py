"""Hardware: the custom function unit, in Amaranth."""
