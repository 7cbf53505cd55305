"""Compiled kernels of hold'em subgames: lanes of numbers side by side, streets, passes, hand strength."""
