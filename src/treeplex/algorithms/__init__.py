"""Named assemblies of update rules, averaging weights and turns; the registry; the linear program; growth."""
