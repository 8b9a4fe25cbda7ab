"""Declared sources read once into one typed, immutable, versioned file: `refresh.refresh`, `store.open_snapshot`."""
