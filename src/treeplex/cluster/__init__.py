"""Past one machine: the work of ``runs`` carried out by the workers of a Ray cluster, to the same bits."""
