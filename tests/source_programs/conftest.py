"""The printouts of the source documents, asserted as text (object addresses and unseeded numbers aside).

Each test is one program as the source has it, `print x` read as `print(x)`; its expected text is the source's. Where a
source predates TensorFlow 1.15, 1.15's spelling stands instead, with a comment. The tests run with tfexp and, where it
is installed, with TensorFlow itself, so that the suite cannot drift from what it claims.
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
