"""The tests run from a clone as they do of an installed package: python/ is where the package is."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent, HERE):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of Dask, processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit=0,
                                  dashboard_address=None, silence_logs=60) as two:
        yield two


@pytest.fixture
def deadly(request: pytest.FixtureRequest, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers get functions of the test's module, which they cannot import, and Dask gives a task up after one
    death."""
    cloudpickle = importlib.import_module("cloudpickle")
    cloudpickle.register_pickle_by_value(request.module)
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)  # Dask's default is 3
    yield
    cloudpickle.unregister_pickle_by_value(request.module)
