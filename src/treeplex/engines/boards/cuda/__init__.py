"""Hold'em boards on a GPU: the passes of ``boards.cpu``, with a block of threads for some street roots of a board."""
