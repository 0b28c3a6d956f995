"""Images that get another size, in the engine's terms."""
