"""Wakeups of an agent's own conversation: schedule, reschedule, cancel."""
