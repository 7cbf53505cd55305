"""Runs on several machines: workers of a Ray cluster compute the same bits as one machine."""
