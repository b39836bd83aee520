"""Definitions: apply, export, get, delete, set_member, set_messaging, set_runtime, pause."""
