"""Compiled kernels of hold'em subgames: chance nodes, terminals, streets, passes and their threads."""
