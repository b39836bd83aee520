"""Who is asking, and how they prove it. The only reader of credentials."""
