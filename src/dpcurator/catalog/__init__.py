"""What is public about the data: `load`, `bind.catalog_of`, `check.check`, `init.draft`, and the frozen `model`."""
