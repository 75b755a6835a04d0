"""Tools: what flows and models may call. `call.call_tool` is the one way to call them."""
