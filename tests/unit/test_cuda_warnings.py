"""A run on a GPU prints nothing that libraries say of each other or of small grids."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings

import pytest

from treeplex.kernels.cuda import device


@pytest.fixture
def library(monkeypatch):
    """A package that warns while it is imported and that read its settings long ago."""
    settings = types.SimpleNamespace(CUDA_LOW_OCCUPANCY_WARNINGS=1)

    def imported(name):
        assert name == "numba.cuda"
        warnings.warn("a deprecated unit", DeprecationWarning, stacklevel=2)
        return types.SimpleNamespace(name=name)

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(importlib, "import_module", imported)
    monkeypatch.setitem(sys.modules, "numba.cuda.core.config", settings)
    monkeypatch.delenv("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", raising=False)
    return settings


def test_nothing_is_printed_of_imports_and_grids(library):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert device.module().name == "numba.cuda"
    assert library.CUDA_LOW_OCCUPANCY_WARNINGS == 0


def test_who_asks_for_warnings_of_grids_gets_them(library, monkeypatch):
    monkeypatch.setenv("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "1")
    device.module()
    assert library.CUDA_LOW_OCCUPANCY_WARNINGS == 1
