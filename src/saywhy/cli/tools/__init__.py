"""`saywhy tools`: tool files made out of what others describe."""
