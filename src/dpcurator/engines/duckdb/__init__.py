"""The core plan on DuckDB."""
