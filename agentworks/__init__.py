"""AgentWorks: a self-hosted server through which agents and people message and call one another."""

__version__ = "0.1.0"
