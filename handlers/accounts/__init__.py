"""Accounts and connections: who may act, for whom, how far and for how long."""
