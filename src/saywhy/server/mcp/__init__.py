"""An MCP server on an engine: what is offered, what a call does, how it is listened to."""
