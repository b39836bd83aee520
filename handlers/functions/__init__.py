"""Structured functions: list, define, delete, call."""
