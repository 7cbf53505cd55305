"""Games that are cut into a trunk and shards: CFR on either side of the cut, and what they say to each other."""
