"""A game cut into a trunk, which one engine iterates here, and shards, whose engines are somewhere else."""
