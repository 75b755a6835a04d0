"""What may stand between `{{` and `}}`: reading it, running it fenced, filling it in."""
