"""Images that become larger, in the engine's terms."""
