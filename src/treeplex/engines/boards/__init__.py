"""Streets times boards times rows of hands: Texas hold'em."""
