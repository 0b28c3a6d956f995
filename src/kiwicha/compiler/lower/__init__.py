"""From a graph to a network: operators become kernel calls."""
