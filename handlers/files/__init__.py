"""Files of an agent: list, read, write, delete, search."""
