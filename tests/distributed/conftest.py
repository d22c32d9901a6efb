"""The fixture that makes the test op known."""

from tests.distributed.waiting import registered

__all__ = ["registered"]
