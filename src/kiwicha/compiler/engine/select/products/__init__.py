"""Products of matrices that are both computed."""
