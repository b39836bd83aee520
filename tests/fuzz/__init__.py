"""Every kind of wrong input, made up by a machine."""
