"""Ops without a row in the op tables, each with the test that covers it and why a row would not do."""

from __future__ import annotations

EXEMPT: dict[str, str] = {
    "Const": "made from its attribute: tests/graph, and by every row here",
    "Placeholder": "feeds have tests in tests/runtime, and every row here feeds some",
}
