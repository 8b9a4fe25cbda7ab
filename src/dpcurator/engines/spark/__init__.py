"""Spark as an engine: the session, and the core plan as one statement of Spark SQL."""
