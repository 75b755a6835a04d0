"""What the sentences of a narrative are, by language. English is complete; so are the others."""
