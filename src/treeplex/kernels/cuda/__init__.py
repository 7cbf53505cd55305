"""GPUs: detection (``device``), kernels and their parts (``kernels``), streams and graphs (``graphs``).

Numba's CUDA modules are imported only when needed, never with the package: without them everything else works.
"""
