"""Growing public trees: one row of hands per public node."""
