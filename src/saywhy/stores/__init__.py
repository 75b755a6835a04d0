"""Where conversations are kept: what a store promises (`store`), and two that keep it."""
