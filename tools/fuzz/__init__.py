"""Hostile input: what is read must be refused with a message, or be harmless."""
