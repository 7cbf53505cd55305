"""The policy type, its files, merging, and policies of OpenSpiel."""
