"""Arguments that have an older name besides."""

import pytest

from tfexp.core.deprecation import deprecated_argument_lookup


def test_the_one_that_is_given_counts():
    assert deprecated_argument_lookup("axis", 1, "dim", None) == 1
    assert deprecated_argument_lookup("axis", None, "dim", 0) == 0
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        deprecated_argument_lookup("axis", 1, "dim", 0)
