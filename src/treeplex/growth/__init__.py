"""Growing abstractions: where sizes are missing, how they are added, and how the past is weighted."""
