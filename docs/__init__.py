"""The documentation: pages written by hand, and passages in them that are printed from the code."""
