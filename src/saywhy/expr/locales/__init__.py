"""Other languages for expressions: what `Intl` asks is answered here, with Babel's data."""
