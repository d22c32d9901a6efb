"""Random parts of images: what is refused, and sizes of few bits."""

from __future__ import annotations

BOXES = [[[0.1, 0.1, 0.9, 0.9]]]
