"""What a session is asked for that ConfigProto has no field for: custom optimizers of its rewriter's options, by name.

So it travels to a cluster's masters as every other option does.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import config_pb2

__all__ = ["rewriter_of", "with_rewriter"]


def rewriter_of(config: config_pb2.ConfigProto, name: str) -> Any:
    """The custom optimizer of that name, with its `parameter_map`; None where the session is not asked for it."""
    optimizers = config.graph_options.rewrite_options.custom_optimizers
    return next((optimizer for optimizer in optimizers if optimizer.name == name), None)


def with_rewriter(config: config_pb2.ConfigProto | None, name: str) -> config_pb2.ConfigProto:
    """A copy of the ConfigProto (None: of an empty one) that asks for it."""
    changed = config_pb2.ConfigProto()
    if config is not None:
        changed.CopyFrom(config)
    if rewriter_of(changed, name) is None:
        changed.graph_options.rewrite_options.custom_optimizers.add(name=name)
    return changed
