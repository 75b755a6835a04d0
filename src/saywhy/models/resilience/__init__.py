"""Providers around providers: what keeps the failures and the costs of a model bounded."""
