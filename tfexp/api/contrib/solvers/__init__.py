"""`tf.contrib.solvers`: linear systems."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from(
    "tf.contrib.solvers",
    {name: f"tfexp.api.contrib.solvers.{name}" for name in ("least_squares", "linear_equations", "util")},
)
