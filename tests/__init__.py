"""How we know: one test is one sentence of the contract."""
