"""Problems that runs solve. Each provides its name, unit and defaults, and describes its solution."""
