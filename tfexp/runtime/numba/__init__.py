"""The back end that compiles loops with Numba: the `jit` extra."""
