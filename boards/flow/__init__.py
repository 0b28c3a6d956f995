"""From a board and a configuration to a bitstream: synthesis, place and route, reports."""
