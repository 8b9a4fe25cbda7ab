"""A client: the surface of a curator, over HTTP. It needs no engine and sees no data."""
