"""The queue of solves: validated, queued on disk, and run one at a time, each in its own process."""
