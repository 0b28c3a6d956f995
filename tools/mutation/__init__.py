"""What tests see: faults are put into sources, one at a time, and tests must fail."""
