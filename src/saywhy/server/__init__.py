"""Conversations and tools for programs outside: so far to MCP clients."""
