"""`tf.contrib.solvers`: linear systems."""

from tfexp.core.gone import namespace

__getattr__, __dir__ = namespace(
    "tf.contrib.solvers",
    __name__,
    {name: f"tfexp.api.contrib.solvers.{name}" for name in ("least_squares", "linear_equations", "util")},
)
