"""What more than one part must know: instructions, jobs, layouts of Programs, the serial line."""
