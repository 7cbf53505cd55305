"""Which bet sizes matter: the best few of many, with an interval for what the others would have been worth."""
