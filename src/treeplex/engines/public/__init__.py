"""Public nodes times rows of hands: trees that grow."""
