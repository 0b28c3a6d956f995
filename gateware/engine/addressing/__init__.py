"""Address generators: which bytes meet which weights, cycle by cycle."""
