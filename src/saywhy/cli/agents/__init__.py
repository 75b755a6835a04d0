"""`saywhy agent`: a conversation with an agent, typed or over pipes."""
