"""What tests of stand-ins share."""

import sys
from collections.abc import Iterator

import pytest

from tfexp import as_tensorflow


@pytest.fixture
def installed() -> Iterator[None]:
    """In the test `import tensorflow` is tfexp."""
    finders = list(sys.meta_path)
    as_tensorflow.install()
    yield
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
        del sys.modules[name]
