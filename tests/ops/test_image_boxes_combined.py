"""Rows of CombinedNonMaxSuppression; the reference takes boxes one at a time."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

random = np.random.default_rng(4)
CORNERS = random.random((2, 11, 1, 2))
BOXES = np.float32(np.concatenate([CORNERS, CORNERS + random.random((2, 11, 1, 2)) * 0.7], -1))
OF_CLASSES = np.float32(np.concatenate([BOXES + 0.1 * k for k in range(3)], 2))
SCORES = random.random((2, 11, 3)).astype(np.float32)
TIES = np.round(SCORES * 3) / 3
IOU, LOWEST = np.float32(0.3), np.float32(0.25)


def iou(a, b):
    sides = [max(0.0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1)]
    shared = sides[0] * sides[1]
    return shared / (sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)) - shared)


def combined(pad=False, clip=True):
    def reference(boxes, scores, per_class, total, threshold, lowest):
        count = min(total, per_class * scores.shape[2]) if pad else total
        out = [np.zeros((len(boxes), count, *rest), np.float32) for rest in ((4,), (), ())]
        valid = []
        for image, (own, marks) in enumerate(zip(boxes, scores, strict=True)):
            found = []
            for k in range(marks.shape[1]):
                rows = own[:, min(k, own.shape[1] - 1)]
                kept = []
                for i in sorted(range(len(rows)), key=lambda i, k=k: -marks[i, k]):
                    if (
                        marks[i, k] > lowest
                        and len(kept) < per_class
                        and all(iou(rows[i], rows[j]) <= threshold for j in kept)
                    ):
                        kept.append(i)
                found += [(rows[i], marks[i, k], k) for i in kept]
            found = sorted(found, key=lambda one: -one[1])[:count]
            valid.append(len(found))
            for whole, parts in zip(out, zip(*found, strict=True) if found else (), strict=bool(found)):
                whole[image, : len(parts)] = parts
        if clip:
            out[0] = out[0].clip(0, 1)
        return [*out, np.int32(valid)]

    return reference


GIVEN = [np.int32(2), np.int32(5), IOU, LOWEST]
MANY = [np.int32(4), np.int32(40), IOU, LOWEST]


def refused(boxes, scores, text, *limits):
    return Error([boxes, scores, *(limits or GIVEN)], InvalidArgumentError, text)


CASES = [
    OpCase(
        "CombinedNonMaxSuppression",
        [BOXES, SCORES, *GIVEN],
        combined(),
        gradient=(),
        errors=[
            Error([BOXES[0], SCORES, *GIVEN], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([BOXES[..., :3], SCORES, *GIVEN], ValueError, "Dimension must be 4 but is 3"),
            Error([BOXES, SCORES[:, 1:], *GIVEN], ValueError, "Dimensions must be equal, but are 11 and 10"),
            Error([OF_CLASSES[:, :, 1:], SCORES, *GIVEN], ValueError, "either 1 or equal to the third dimension of scores"),
            Error([BOXES, SCORES, GIVEN[0], np.int32(0), *GIVEN[2:]], ValueError, "should be > 0", constants=True),
            refused(BOXES[0], SCORES, "boxes must be [batch, boxes, 1 or classes, 4]"),
            refused(BOXES[1:], SCORES, "boxes and scores must have same batch size"),
            refused(BOXES, SCORES[:, 1:], "scores has incompatible shape"),
            refused(BOXES[..., :3], SCORES, "boxes must have 4 columns: boxes [2,11,1,3]"),
            refused(OF_CLASSES[:, :, 1:], SCORES, "third dimension of boxes must be either 1 or num classes"),
            refused(BOXES, SCORES, "max_size_per_class must be positive, not 0", np.int32(0), *GIVEN[1:]),
            refused(BOXES, SCORES, "max_total_size must be positive, not -1", GIVEN[0], np.int32(-1), *GIVEN[2:]),
            refused(BOXES, SCORES, "iou_threshold must be in [0, 1], not 1.5", *GIVEN[:2], np.float32(1.5), LOWEST),
        ],
    ),
    OpCase("CombinedNonMaxSuppression", [BOXES, SCORES, *MANY], combined(), gradient=(), label="fewer than asked for"),
    OpCase("CombinedNonMaxSuppression", [BOXES, SCORES[..., :0], *MANY], combined(), gradient=(), label="no classes"),
    OpCase(
        "CombinedNonMaxSuppression",
        [OF_CLASSES, TIES, *MANY],
        combined(pad=True, clip=False),
        attrs={"pad_per_class": True, "clip_boxes": False},
        gradient=(),
        label="boxes of classes, ties, padded by class, not cut",
    ),
]
test_rows = op_tests(CASES)
