"""From weight streams in DRAM to the array: loader, decompressor, buffers."""
