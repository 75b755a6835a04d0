"""What runs the operations of the agent corpus, one module a part of the library."""
