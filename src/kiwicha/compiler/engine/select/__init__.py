"""Which layers the engine computes, and in what form."""
