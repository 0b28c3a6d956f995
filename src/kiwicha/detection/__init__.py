"""The last step of detectors, on the host."""
