"""Support rules: which models are accepted, and what is said of those that are not."""
