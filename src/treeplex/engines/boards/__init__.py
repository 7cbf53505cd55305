"""Engine for Texas hold'em: streets times boards times rows of hands."""
