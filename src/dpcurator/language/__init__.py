"""The language of row expressions: what may be computed of one row, its types, bounds and limits. It knows no plan."""
