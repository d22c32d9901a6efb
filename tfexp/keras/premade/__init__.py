"""Models that are made already: linear ones, and linear and deep ones together."""
