"""DRAM port, DMA and scratchpad."""
