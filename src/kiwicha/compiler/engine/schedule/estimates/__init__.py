"""What operations and cascades take, before anything is scheduled."""
