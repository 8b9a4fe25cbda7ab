"""Try to break a curator on made-up rows of its own schema."""
