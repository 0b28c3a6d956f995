"""Memory: offsets for buffers that live at different times, and the plan of the arena."""
