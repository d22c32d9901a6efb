"""What the programs of the source documents print.

`test_programs` runs those in experiments/sources and compares with what they say they print; the other files hold what has
to be the source's own text, `print x` read as `print(x)`. Everything runs with tfexp and, where it is installed, with
TensorFlow itself, so that the suite cannot drift from what it claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp
from tests.golden import oracle
from tests.source_programs.printed import Printed

MODULES = ["tfexp", *(["tensorflow"] if oracle.is_installed() else [])]


@pytest.fixture(params=MODULES)
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    """TF1's namespace with a fresh default graph; NumPy prints scalars in lists as the sources' NumPy did."""
    module = oracle.tensorflow() if request.param == "tensorflow" else tfexp
    module.reset_default_graph()
    with np.printoptions(legacy="1.25"):
        yield module
    module.reset_default_graph()


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Printed:
    """What the test prints."""
    return Printed(capsys)
