"""What a run cost: as data, as JSON and as tables."""
