"""Agents: list, ask."""
