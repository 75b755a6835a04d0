"""Tools that are HTTP requests. `invoke.invoke` carries one out; each file holds one noun of it."""
