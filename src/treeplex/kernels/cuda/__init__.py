"""GPUs: is there one (``found``), kernels and what they are made of (``kernels``), streams and graphs (``graphs``).

Numba's CUDA modules are imported by whoever needs them, never with the package: without them everything else works.
"""
