"""What caused something: chains from a sentence, a value or a decision back to their roots."""
