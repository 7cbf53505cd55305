"""treeplex as a server of the Model Context Protocol, so that assistants can solve games: ``treeplex mcp``."""
