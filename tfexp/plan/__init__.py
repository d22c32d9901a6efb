"""A step of a graph becomes a frozen plan: pruned, ordered, specialised to the fed shapes, simplified, given buffers.

`passes` has the table of contents. A plan is data: names, slots, shapes, source text. What it needs of one
session (resources, node state) is bound by `runtime.executor`. Ops are known only through their registry entries.
"""
