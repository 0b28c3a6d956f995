"""Reference executor: Programs and custom instructions in numpy."""
