"""Engines for a game that is cut into a trunk, which is iterated here, and shards, which workers iterate."""
