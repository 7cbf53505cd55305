"""How an abstraction grows: where sizes are missing, how they are added, how the past is weighted."""
