"""The ways in. Each turns its own wire into dispatch(operation, who, args)."""
