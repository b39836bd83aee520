"""`python -m cli` is `agentworks`, also where the package is not installed."""

from __future__ import annotations

from cli import main

if __name__ == "__main__":
    main()
