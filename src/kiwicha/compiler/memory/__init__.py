"""Where buffers lie in a memory."""
