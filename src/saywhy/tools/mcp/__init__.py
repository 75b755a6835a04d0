"""Tools of MCP servers: which server, a connection that is kept, a call, what it answered."""
