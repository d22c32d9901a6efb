"""The optional parts of the conversion. Source: `tf.autograph.experimental.Feature`, TF 1.15."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Feature(enum.Enum):
    """What a conversion may do besides control flow.

    BUILTIN_FUNCTIONS: `print` of tensors prints their values when they are computed. EQUALITY_OPERATORS: `==` and `!=`
    compare tensors by their values. LISTS: lists can grow in the loops of a graph. NAME_SCOPES: the nodes of a function are
    in a scope of its name. AUTO_CONTROL_DEPS: what a function returns waits for what it assigns and prints.
    ASSERT_STATEMENTS: nothing more, asserting a tensor is always an assertion of the graph.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """All features except those."""
        left_out = features({exclude} if isinstance(exclude, Feature) else exclude)
        return tuple(sorted(frozenset(cls) - left_out - {cls.ALL}, key=lambda feature: feature.value))


def features(given: Feature | Iterable[Feature] | None) -> frozenset[Feature]:
    """The features that a caller asks for, ALL spelled out. TypeError for anything else."""
    asked = frozenset({given} if isinstance(given, Feature) else given or ())
    for feature in asked:
        if not isinstance(feature, Feature):
            raise TypeError(f"A tf.autograph.experimental.Feature is required, got {feature!r}")
    return frozenset(Feature) - {Feature.ALL} if Feature.ALL in asked else asked
