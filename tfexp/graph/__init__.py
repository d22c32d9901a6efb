"""Graphs: nodes, names, scopes, conversion of Python values, shape inference, gradients, GraphDef in and out.

A `Graph` holds `Operation`s in creation order; an `Operation` holds native Python attributes (DType, TensorShape, …) and
becomes a NodeDef only when somebody asks. Nothing here knows what an op computes: signatures, shape rules and
gradients come from the registry in `core.op`.
"""
