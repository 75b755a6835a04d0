"""The record of conversations, to be handed to somebody who trusts nobody: bundles, checks."""
