"""SampleDistortedBoundingBox: a random part of an image that still shows enough of one of its objects.

Szegedy et al., 2015. The numbers are TensorFlow's for the same seeds. Source: `tf.image.sample_distorted_bounding_box`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfexp.core.kernel import KernelContext
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.scopes import name_scope
from tfexp.ops.array import Array
from tfexp.ops.philox import Philox, PhiloxState, uniform_from_words
from tfexp.ops.shape_rules import required_dim, with_rank

_ATTRS = (
    "aspect_ratio_range: list(float) = [0.75,1.3300000429153442]; area_range: list(float) = [0.05000000074505806,1.0]; "
    "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
)
_SIZE = "T: type in [uint8,int8,int16,int32,int64]; seed: int = 0; seed2: int = 0"
sample_distorted_bounding_box_op = define_op(
    "SampleDistortedBoundingBox(image_size: T, bounding_boxes: float) -> (begin: T, size: T, bboxes: float) "
    f"{{{_SIZE}; min_object_covered: float = 0.10000000149011612; {_ATTRS}}} #stateful"
).not_differentiable()
sample_distorted_bounding_box_v2_op = define_op(
    "SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float, min_object_covered: float) -> "
    f"(begin: T, size: T, bboxes: float) {{{_SIZE}; {_ATTRS}}} #stateful"
).not_differentiable()

_BLOCKS_PER_ATTEMPT = 1  # four words of the stream are set aside for each


class _Part(NamedTuple):
    """A rectangle of pixels."""

    y: int
    x: int
    height: int
    width: int


class _Words:
    """One 32-bit number after the other."""

    def __init__(self, stream: Philox) -> None:
        self._stream = stream
        self._words: list[int] = []

    def next(self) -> int:
        if not self._words:
            self._words = self._stream.blocks(1)[0].tolist()[::-1]
            self._stream = self._stream.skip(1)
        return self._words.pop()

    def fraction(self) -> np.float32:
        """A float in [0, 1)."""
        value: np.float32 = uniform_from_words(np.array([self.next()], np.uint32), np.float32)[0]
        return value

    def below(self, count: int) -> int:
        """An integer in [0, count), each as likely as the others: what would tip the scales is drawn again."""
        if count & (count - 1) == 0:
            return self.next() & (count - 1)
        limit = (1 << 32) - 1 - ((1 << 32) - 1) % count
        while (word := self.next()) >= limit:
            pass
        return word % count


def _part(words: _Words, width: int, height: int, areas: tuple[float, float], aspect: float) -> _Part | None:
    """A random part of that proportion (width to height) and an area in the range; None where chance made none."""
    smallest, largest = (np.float32(area) * np.float32(width * height) for area in areas)
    ratio = np.float32(aspect)
    rows = round(float(np.sqrt(smallest / ratio)))
    most = round(float(np.sqrt(largest / ratio)))
    if round(float(np.float32(most) * ratio)) > width:
        most = int((width + 0.5 - 1e-7) / float(ratio))
        if round(float(np.float32(most) * ratio)) > width:
            most -= 1
    most = min(most, height)
    rows = min(rows, most)
    if rows < most:
        rows += words.below(most - rows + 1)
    columns = round(float(np.float32(rows) * ratio))
    area = np.float32(columns * rows)
    if area < smallest:
        rows += 1
        columns = round(float(np.float32(rows) * ratio))
        area = np.float32(columns * rows)
    if area > largest:
        rows -= 1
        columns = round(float(np.float32(rows) * ratio))
        area = np.float32(columns * rows)
    if area < smallest or area > largest or columns > width or rows > height or columns <= 0 or rows <= 0:
        return None
    y = words.below(height - rows) if rows < height else 0
    x = words.below(width - columns) if columns < width else 0
    return _Part(y, x, rows, columns)


def _shows_enough(part: _Part, objects: Array, covered: float) -> bool:
    """Whether at least that share of an object (pixels [n, 4]: y1, x1, y2, x2) is in the part."""
    low = np.maximum(objects[:, :2], [part.y, part.x])
    high = np.minimum(objects[:, 2:], [part.y + part.height, part.x + part.width])
    shared = np.prod(np.maximum(high - low, 0), 1).astype(np.float32)
    areas = np.prod(np.maximum(objects[:, 2:] - objects[:, :2], 0), 1).astype(np.float32)
    # An object without any area is in every part that it touches, and fully so in none.
    share = np.divide(shared, areas, out=np.zeros_like(shared), where=areas > 0)
    return bool(((share >= np.float32(covered)) & (shared > 0)).any())


def _check_attempts(attrs: dict[str, Any]) -> None:
    for attr, name in (("aspect_ratio_range", "Aspect ratio"), ("area_range", "Area")):
        limits = attrs[attr]
        shown = f"[{', '.join(f'{limit:g}' for limit in limits)}]"
        if len(limits) != 2:
            raise ValueError(f"{name} range field must specify 2 dimensions, got: {shown}")
        if min(limits) <= 0:
            raise ValueError(f"{name} range must be non-negative and not 0: {shown}")
        if attr == "area_range" and max(limits) > 1:
            raise ValueError(f"{name} range must be less then or equal to 1.0: {shown}")
    if attrs["max_attempts"] <= 0:
        raise ValueError(f"Max attempts must be non-negative and not 0: {attrs['max_attempts']}")


def _sample(ctx: KernelContext, image_size: Array, boxes: Array, covered: float, attrs: dict[str, Any]) -> list[Array]:
    if image_size.shape != (3,):
        raise ValueError(f"image_size must be 1-dimensional and contain 3 elements, got {dims_text(image_size.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise ValueError(f"bounding boxes must have shape [batch, num_boxes, 4], got shape {dims_text(boxes.shape)}")
    height, width = (int(n) for n in image_size[:2])
    if height <= 0 or width <= 0:
        raise ValueError(f"image height and width must be > 0, got {height} and {width}")
    if not 0 <= covered <= 1:
        raise ValueError(f"Min object covered must be in [0.0, 1.0], got: {covered}")
    flat = boxes.reshape(-1, 4).astype(np.float32)
    if not ((flat >= 0) & (flat <= 1)).all():
        raise ValueError("All bounding box coordinates must be in [0.0, 1.0]")
    objects = (flat * np.array([height, width, height, width], np.float32)).astype(np.int64)
    if not len(objects):
        if not attrs["use_image_if_no_bounding_boxes"]:
            raise ValueError(
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish"
            )
        objects = np.array([[0, 0, height, width]])
    low, high = attrs["aspect_ratio_range"]
    _check_attempts(attrs)
    state: PhiloxState | None = ctx.node_state.get("philox")
    if state is None:
        state = ctx.node_state.setdefault("philox", PhiloxState(attrs["seed"], attrs["seed2"]))
    words = _Words(state.take(attrs["max_attempts"] * _BLOCKS_PER_ATTEMPT))
    chosen = _Part(0, 0, height, width)
    for _ in range(attrs["max_attempts"]):
        aspect = words.fraction() * (np.float32(high) - np.float32(low)) + np.float32(low)
        part = _part(words, width, height, tuple(attrs["area_range"]), float(aspect))
        if part is not None and _shows_enough(part, objects, covered):
            chosen = part
            break
    y, x, rows, columns = chosen
    edges = np.array([y / height, x / width, (y + rows) / height, (x + columns) / width], np.float32)
    return [
        np.array([y, x, 0], image_size.dtype),
        np.array([rows, columns, -1]).astype(image_size.dtype),
        edges.reshape(1, 1, 4),
    ]


def _attach(op: Op) -> None:
    @op.shape
    def _(image_size: InputShape, bounding_boxes: InputShape, *covered: InputShape) -> list[TensorShape]:
        dims = with_rank(image_size, 1).as_list()
        required_dim(dims[0], 3)
        boxes = with_rank(bounding_boxes, 3).as_list()
        required_dim(boxes[2], 4)
        return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]

    @op.kernel("CPU")
    def _(ctx: KernelContext, image_size: Array, boxes: Array, *covered: Any, **attrs: Any) -> list[Array]:
        share = float(covered[0]) if covered else attrs["min_object_covered"]
        return _sample(ctx, image_size, boxes, share, attrs)


_attach(sample_distorted_bounding_box_op)
_attach(sample_distorted_bounding_box_v2_op)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """(begin, size, bboxes) of a random part, for `tf.slice` and `tf.image.draw_bounding_boxes`.

    It has a width to height in `aspect_ratio_range`, an area in `area_range` of the image's, and shows at least
    `min_object_covered` of one of the boxes [1, n, 4]; after `max_attempts` vain ones it is the whole image.
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        given: dict[str, Any] = {
            "aspect_ratio_range": aspect_ratio_range,
            "area_range": area_range,
            "max_attempts": max_attempts,
            "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
        }
        return sample_distorted_bounding_box_v2_op(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed or 0,
            seed2=seed2 or 0,
            **{key: value for key, value in given.items() if value is not None},
        )
