"""From place to place in the scratchpad: addresses, tiles and masks of MOVE jobs."""
