"""Rows of the resizing and cropping ops; the references make one weight matrix for each axis, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

CORNERS = {"align_corners": True, "half_pixel_centers": False}
HALF = {"align_corners": False, "half_pixel_centers": True}
PLAIN = {"align_corners": False, "half_pixel_centers": False}


def place(i, old, new, align_corners=False, half_pixel_centers=False):
    if half_pixel_centers:
        return (i + 0.5) * old / new - 0.5
    return i * (old - 1) / (new - 1) if align_corners and new > 1 else i * old / new


def keys(t, a):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def matrix(kind, old, new, **how):
    """What makes new element i of the old ones: row i."""
    weights = np.zeros((new, old))
    for i in range(new):
        at = place(i, old, new, **how)
        low = math.floor(at)
        if kind == "linear":
            for j, w in ((low, 1 - (at - low)), (low + 1, at - low)):
                weights[i, min(max(j, 0), old - 1)] += w
        elif kind == "nearest":
            if how.get("half_pixel_centers"):
                at = math.floor((i + 0.5) * old / new)
            else:
                at = math.floor(at + 0.5) if how.get("align_corners") else low
            weights[i, min(at, old - 1)] = 1
        elif kind == "cubic":
            half = how.get("half_pixel_centers")
            step = round((at - low) * 1024) / 1024  # TensorFlow's table has so many entries
            for j in range(low - 1, low + 3):
                if half and not 0 <= j < old:
                    continue
                weights[i, min(max(j, 0), old - 1)] += keys(j - low - step, -0.5 if half else -0.75)
            if half:
                weights[i] /= weights[i].sum()
        else:
            step = (old - 1) / (new - 1) if how.get("align_corners") and new > 1 else old / new
            for j in range(math.floor(i * step), math.ceil((i + 1) * step - 1e-9)):
                weights[i, min(j, old - 1)] += (min(j + 1, (i + 1) * step) - max(j, i * step)) / step
    return weights


def resized(kind, out=np.float32, **how):
    def reference(x, size):
        rows, columns = (matrix(kind, n, int(s), **how) for n, s in zip(x.shape[1:3], size, strict=True))
        return np.einsum("ih,jw,bhwc->bijc", rows, columns, x.astype(np.float64)).astype(out or x.dtype)

    return reference


def spread(kind, size=None, **how):
    def reference(grad, image):
        space = image.shape[1:3] if size is None else size
        rows, columns = (matrix(kind, int(n), s, **how) for n, s in zip(space, grad.shape[1:3], strict=True))
        dtype = image.dtype if size is None else grad.dtype
        return np.einsum("ih,jw,bijc->bhwc", rows, columns, grad.astype(np.float64)).astype(dtype)

    return reference


SIZE = np.array([3, 11], np.int32)
EVERY = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int32", "int64", "uint16"]
ERRORS = [
    Error([(2, 5, 7), SIZE], ValueError, "Shape must be rank 4 but is rank 3"),
    Error([(2, 5, 7, 3), np.array([3, 4, 5], np.int32)], ValueError, "Dimension must be 2 but is 3"),
    Error([(2, 5, 7, 3), np.array([3, 0], np.int32)], InvalidArgumentError, "output dimensions must be positive"),
    Error([(2, 0, 7, 3), SIZE], InvalidArgumentError, "input image must be of non-zero size"),
]
FORWARD = {"ResizeBilinear": "linear", "ResizeBicubic": "cubic", "ResizeNearestNeighbor": "nearest"}
CASES = []
for op, kind in FORWARD.items():
    same = op == "ResizeNearestNeighbor"
    for how in (PLAIN, CORNERS, HALF):
        label = next((name for name, value in how.items() if value), "plain")
        CASES.append(
            OpCase(
                op,
                [(2, 5, 7, 3), SIZE],
                resized(kind, None if same else np.float32, **how),
                attrs=how,
                dtypes=EVERY,
                numeric=False,
                tolerance=2e-5,
                label=label,
                errors=ERRORS if how is PLAIN else (),
            )
        )
    CASES.append(
        OpCase(
            f"{op}Grad",
            [(2, 3, 11, 3), (2, 5, 7, 3)] if not same else [(2, 3, 11, 3), np.array([5, 7], np.int32)],
            spread(kind, (5, 7) if same else None, **CORNERS),
            attrs=CORNERS,
            dtypes=["float32"] if same else ["float32", "float64"],
            drawn_dtypes={} if same else {0: "float32"},
            numeric=False,
            tolerance=2e-5,
            static_shape=None if same else [(2, 5, 7, 3)],
        )
    )
for how in ({"align_corners": False}, {"align_corners": True}):
    CASES.append(
        OpCase(
            "ResizeArea",
            [(2, 5, 7, 3), SIZE],
            resized("area", **how),
            attrs=how,
            dtypes=EVERY,
            numeric=False,
            tolerance=2e-5,
            label=str(how["align_corners"]),
        )
    )


# --- crops ------------------------------------------------------------------------------------------------------------

BOXES = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0.9, 0.1, 0.2, 0.7], [-0.2, 0.3, 1.3, 1.1]], np.float32)
OF = np.array([0, 1, 1, 0], np.int32)
CROP = np.array([3, 2], np.int32)


def crop_matrix(start, end, old, new):
    """Weights of the pixels for each of the crop, all 0 outside of the image."""
    weights = np.zeros((new, old))
    for i in range(new):
        at = start * (old - 1) + i * (end - start) * (old - 1) / (new - 1) if new > 1 else (start + end) * (old - 1) / 2
        if 0 <= at <= old - 1:
            low = math.floor(at)
            weights[i, low] += 1 - (at - low)
            weights[i, min(low + 1, old - 1)] += at - low
    return weights


def crop(image, boxes, of, size, outside=0.25):
    crops = []
    for (y1, x1, y2, x2), i in zip(boxes.astype(np.float64), of, strict=True):
        rows = crop_matrix(y1, y2, image.shape[1], size[0])
        columns = crop_matrix(x1, x2, image.shape[2], size[1])
        part = np.einsum("ih,jw,hwc->ijc", rows, columns, image[i].astype(np.float64))
        part[~np.outer(rows.any(1), columns.any(1))] = outside
        crops.append(part)
    return np.stack(crops).astype(np.float32)


def crop_for_image(grads, boxes, of, size):
    result = np.zeros(tuple(size))
    for grad, (y1, x1, y2, x2), i in zip(grads, boxes.astype(np.float64), of, strict=True):
        rows = crop_matrix(y1, y2, size[1], grads.shape[1])
        columns = crop_matrix(x1, x2, size[2], grads.shape[2])
        result[i] += np.einsum("ih,jw,ijc->hwc", rows, columns, grad)
    return result.astype(np.float32)


def crop_for_boxes(grads, image, boxes, of):
    """By central differences."""
    result, step = np.zeros(boxes.shape), 1e-6
    for index in np.ndindex(*boxes.shape):
        sides = []
        for sign in (1, -1):
            moved = boxes.astype(np.float64).copy()
            moved[index] += sign * step
            crops = np.zeros(grads.shape)
            for n, ((y1, x1, y2, x2), i) in enumerate(zip(moved, of, strict=True)):
                rows = crop_matrix(y1, y2, image.shape[1], grads.shape[1])
                columns = crop_matrix(x1, x2, image.shape[2], grads.shape[2])
                crops[n] = np.einsum("ih,jw,hwc->ijc", rows, columns, image[i].astype(np.float64))
            sides.append((crops * grads).sum())
        result[index] = (sides[0] - sides[1]) / (2 * step)
    return result.astype(np.float32)


INNER = np.array([[0.11, 0.23, 0.83, 0.91], [0.9, 0.13, 0.21, 0.7], [0.07, 0.31, 0.52, 0.77]], np.float32)
INNER_OF = np.array([1, 0, 1], np.int32)
CASES += []


def glimpse(x, size, offsets):
    """Noise is zero, offsets are relative to the middle."""
    result = np.zeros((len(x), *size, x.shape[3]), np.float32)
    for n, (dy, dx) in enumerate(offsets):
        top = int((dy * x.shape[1] + x.shape[1]) / 2 - size[0] / 2)
        left = int((dx * x.shape[2] + x.shape[2]) / 2 - size[1] / 2)
        for i in range(size[0]):
            for j in range(size[1]):
                if 0 <= top + i < x.shape[1] and 0 <= left + j < x.shape[2]:
                    result[n, i, j] = x[n, top + i, left + j]
    return result


test_rows = op_tests(CASES)


@pytest.mark.parametrize("op", [tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic])
@pytest.mark.parametrize("how", [PLAIN, CORNERS, HALF])
def test_the_gradient_is_the_transposed_op(op, how):
    """<resize(x), g> = <x, gradient(g)> for every linear map."""
    random = np.random.default_rng(3)
    values, weights = random.random((2, 5, 7, 3), np.float32), random.random((2, 11, 3, 3), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(values)
        y = op(x, [11, 3], **how)
        grad = tf.gradients(y, x, tf.constant(weights))[0]
        made, back = session.run([y, grad])
    np.testing.assert_allclose((made * weights).sum(), (values * back).sum(), rtol=1e-5)


def test_corners_cannot_be_aligned_with_half_pixels():
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.image.resize_bilinear(tf.zeros([1, 2, 3, 1]), [5, 5], align_corners=True, half_pixel_centers=True)
        with pytest.raises(InvalidArgumentError, match="align_corners must be False"):
            session.run(y)
