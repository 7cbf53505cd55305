"""Iterations of the regret matching family on a GPU: ``layout`` on the CPU, ``kernels``, and ``engine`` to run them."""
