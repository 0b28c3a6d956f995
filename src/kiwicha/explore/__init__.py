"""Search for the configuration that serves some models best."""
