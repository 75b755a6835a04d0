"""What may be kept: sensitive values masked, big ones cut, before anything is recorded."""
