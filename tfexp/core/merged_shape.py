"""The shape that two descriptions allow, and what TensorFlow's shape functions say where there is none."""

from __future__ import annotations

from tfexp.core.shape import TensorShape, dims_text


def shape_text(shape: TensorShape) -> str:
    """`[2,?]`, or `?` for unknown rank: how TensorFlow's errors write shapes."""
    dims = shape.known_dims
    return "?" if dims is None else dims_text(dims)


def merged(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape that both allow; ValueError with the first dimension in which they differ."""
    x, y = a.known_dims, b.known_dims
    if x is None or y is None:
        return a if y is None else b
    if len(x) != len(y):
        raise ValueError(f"Shapes must be equal rank, but are {len(x)} and {len(y)}")
    for i, (d, e) in enumerate(zip(x, y, strict=True)):
        if d is not None and e is not None and d != e:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {d} and {e}. "
                f"Shapes are {shape_text(a)} and {shape_text(b)}."
            )
    return TensorShape([e if d is None else d for d, e in zip(x, y, strict=True)])
