"""Instructions, descriptors, order of jobs, errors and counters of the engine."""
