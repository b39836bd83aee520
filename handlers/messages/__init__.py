"""Direct messages: send, send_batch, read, register, unregister, list_agents."""
