"""Policies: the type, its files, merging, and conversion from and to OpenSpiel."""
