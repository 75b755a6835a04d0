"""What is corrected while a flow waits: from "no, the amount is 80" to steps that run again."""
