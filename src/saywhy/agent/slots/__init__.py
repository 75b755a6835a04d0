"""What the model is handed: system prompt, messages and tools, and why each piece is there."""
