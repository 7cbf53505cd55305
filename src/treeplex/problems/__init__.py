"""Problems of a run. Each answers for itself: name, unit, defaults, and how its solution is described."""
