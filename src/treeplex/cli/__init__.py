"""The command line: people read stderr, machines read JSON lines on stdout."""
