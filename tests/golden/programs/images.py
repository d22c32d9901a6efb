"""`tf.image`: the nodes of what is built of others, gradients, and the numbers of random distortions."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values

SOURCE = "issue 4.1, images"


def _image(tf: Any, *shape: Any, dtype: Any = None, name: str = "x") -> Any:
    return tf.placeholder(dtype or tf.float32, shape, name=name)


@program(SOURCE)
def flips(tf: Any) -> Outcome:
    x, batch = _image(tf, 3, 5, 2), _image(tf, 2, 3, 5, 2, name="batch")
    some = _image(tf, None, None, 2, name="some")
    functions = (tf.image.flip_left_right, tf.image.flip_up_down)
    made = [function(image) for function in functions for image in (x, batch, some)]
    feeds = {x: values("x", 3, 5, 2), batch: values("b", 2, 3, 5, 2), some: values("s", 3, 2, 2)}
    return runs(Run(made, feeds), wrong=raised(lambda: tf.image.flip_left_right(tf.zeros([3, 5]))))


@program(SOURCE)
def random_flips(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    x, batch = _image(tf, 3, 5, 2), _image(tf, 4, 3, 5, 2, name="batch")
    made = [tf.image.random_flip_left_right(x, seed=1), tf.image.random_flip_up_down(batch, seed=2)]
    run = Run(made, {x: values("x", 3, 5, 2), batch: values("b", 4, 3, 5, 2)})
    return runs(run, run, run)


@program(SOURCE)
def random_colors(tf: Any) -> Outcome:
    tf.set_random_seed(3)
    x = _image(tf, 3, 5, 3)
    made = [
        tf.image.random_brightness(x, 0.3, seed=1),
        tf.image.random_contrast(x, 0.3, 0.9, seed=2),
    ]
    run = Run(made, {x: values("x", 3, 5, 3) * 0.25 + 0.5}, rtol=1e-4, atol=1e-5)
    return runs(run, run)


@program(SOURCE)
def colors(tf: Any) -> Outcome:
    x, small = _image(tf, 3, 5, 3), _image(tf, 3, 5, 3, dtype=tf.uint8, name="small")
    gray = _image(tf, 3, 5, 1, name="gray")
    made: list[Any] = []
    for image in (x, small):
        made += [
            tf.image.adjust_brightness(image, 0.3),
            tf.image.adjust_contrast(image, 0.3),
            tf.image.rgb_to_grayscale(image),
            tf.image.per_image_standardization(image),
        ]
    made += [tf.image.grayscale_to_rgb(gray)]
    feeds = {
        x: values("x", 3, 5, 3) * 0.25 + 0.5,
        small: (values("s", 3, 5, 3) * 60 + 120).astype("uint8"),
        gray: values("g", 3, 5, 1),
    }
    return runs(Run(made, feeds, rtol=1e-4, atol=1e-5))


@program(SOURCE)
def converted(tf: Any) -> Outcome:
    kinds = (tf.uint8, tf.int16, tf.uint16, tf.float32, tf.float64)
    made = [
        tf.image.convert_image_dtype(tf.placeholder(source, [3]), target, saturate)
        for source in kinds
        for target in kinds
        for saturate in (False, True)
        if not saturate or source.size > target.size or source.is_floating
    ]
    return runs(names=[m.name for m in made])


@program(SOURCE)
def cut_and_padded(tf: Any) -> Outcome:
    x, batch = _image(tf, 7, 5, 3), _image(tf, 2, 7, 5, 3, name="batch")
    some = _image(tf, None, None, 3, name="some")
    made: list[Any] = []
    for image in (x, batch, some):
        made += [
            tf.image.central_crop(image, 0.5),
            tf.image.pad_to_bounding_box(image, 1, 2, 9, 9),
            tf.image.crop_to_bounding_box(image, 1, 2, 3, 3),
            tf.image.resize_image_with_crop_or_pad(image, 6, 9),
        ]
    feeds = {x: values("x", 7, 5, 3), batch: values("b", 2, 7, 5, 3), some: values("s", 6, 7, 3)}
    return runs(Run(made, feeds), wrong=raised(lambda: tf.image.crop_to_bounding_box(x, 1, 2, 7, 3)))


@program(SOURCE)
def resized(tf: Any) -> Outcome:
    x, batch = _image(tf, 7, 5, 3), _image(tf, 2, 7, 5, 3, name="batch")
    made = [tf.image.resize_images(x, [6, 9]), tf.image.resize_images(x, [7, 5]), tf.image.resize_images(batch, [7, 5])]
    made += [tf.image.resize_images(batch, [6, 9], method, method != 3) for method in range(4)]
    made += [tf.image.resize_images(batch, tf.constant([6, 9]), preserve_aspect_ratio=True)]
    feeds = {x: values("x", 7, 5, 3), batch: values("b", 2, 7, 5, 3)}
    wrong = [
        raised(lambda: tf.image.resize_images(batch, [6, 9], 9)),
        raised(lambda: tf.image.resize_images(batch, [6, 9, 1])),
    ]
    return runs(Run(made, feeds, rtol=1e-4, atol=1e-5), wrong=wrong)


@program(SOURCE)
def files(tf: Any) -> Outcome:
    contents = tf.placeholder(tf.string, [], name="contents")
    made = [
        tf.image.decode_png(contents, 3),
        tf.image.decode_jpeg(contents, ratio=2),
        tf.image.decode_gif(contents),
        tf.image.decode_bmp(contents),
        tf.image.decode_image(contents, 3, tf.float32, expand_animations=False),
        tf.image.encode_jpeg(tf.zeros([5, 2, 3], tf.uint8), quality=90),
        tf.image.encode_png(tf.zeros([5, 2, 3], tf.uint8)),
    ]
    return runs(names=[m.name for m in made])
