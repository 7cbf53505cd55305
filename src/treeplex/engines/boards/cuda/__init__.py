"""Hold'em boards on a GPU: the same passes as ``boards.cpu``, with a block of threads for some street roots of a board."""
