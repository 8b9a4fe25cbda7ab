"""The functions of row expressions: the list, and how each is written and read."""
