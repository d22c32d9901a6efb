"""Images through projective transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

TRANSFORMS = np.float32(
    [
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.8, -0.5, 1.25, 0.45, 0.9, -2.0, 0.01, -0.02],
        [-1.1, 0.3, 9.0, 0.2, 1.5, -7.5, 0.0, 0.03],
    ]
)
MODES = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")


@program("issue 4.1, images: ImageProjectiveTransformV2 and V3")
def transforms(tf: Any) -> Outcome:
    x, t = tf.placeholder(tf.float32, [3, 5, 7, 2], name="x"), tf.placeholder(tf.float32, [3, 8], name="t")
    made = []
    for interpolation in ("NEAREST", "BILINEAR"):
        for mode in MODES:
            options = {"interpolation": interpolation, "fill_mode": mode, "output_shape": [6, 5]}
            made.append(tf.raw_ops.ImageProjectiveTransformV2(images=x, transforms=t, **options))
            made.append(tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=t, fill_value=0.5, **options))
    for kind in (tf.uint8, tf.int64, tf.half, tf.double):
        image = tf.cast(10 * tf.abs(x), kind)
        for interpolation in ("NEAREST", "BILINEAR"):
            options = {"interpolation": interpolation, "output_shape": [4, 9]}
            made.append(tf.raw_ops.ImageProjectiveTransformV2(images=image, transforms=t, **options))
    return runs(Run(made, {x: values("x", 3, 5, 7, 2), t: TRANSFORMS}, rtol=1e-4, atol=1e-4))


@program("issue 4.1, images: gradients through transforms")
def gradients(tf: Any) -> Outcome:
    x, t = tf.placeholder(tf.float32, [3, 5, 7, 2], name="x"), tf.placeholder(tf.float32, [3, 8], name="t")
    options = {"interpolation": "BILINEAR", "output_shape": [6, 5]}
    made = [
        tf.raw_ops.ImageProjectiveTransformV2(images=x, transforms=t, **options),
        tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=t, fill_value=0.5, **options),
    ]
    found = [tf.gradients(y * y, x)[0] for y in made]
    return runs(Run(found, {x: values("x", 3, 5, 7, 2), t: TRANSFORMS}, rtol=1e-4, atol=1e-4))
