"""The back end that compiles: JAX, the optional `xla` extra. Only modules of this package import it, when first needed."""
