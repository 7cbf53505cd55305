"""Solves that are asked for: validated, queued on disk, carried out one at a time by processes of their own."""
