"""Calls that were accepted: get, reply, read_file, list."""
