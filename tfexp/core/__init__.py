"""The ground floor: dtypes, shapes, errors, device names and the op registry. Imports nothing of tfexp above it."""
