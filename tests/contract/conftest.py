"""What makes the test op known, and a Ray, which takes seconds to start."""

from collections.abc import Iterator

import pytest

from tests.distributed.waiting import registered

__all__ = ["one_ray", "registered"]


@pytest.fixture(scope="package")
def one_ray() -> Iterator[None]:
    """One Ray for all tests that need it, with two CPUs."""
    import ray

    ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="ERROR", num_cpus=2)
    yield
    ray.shutdown()
