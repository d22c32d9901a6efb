"""Record the SavedModel of an object that TensorFlow 2 writes (`python -m tests.golden.record_object_model`)."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from typing import Any

FOLDER = pathlib.Path(__file__).parent / "object_model"


def make(tf: Any) -> Any:
    """A module of variables, a constant, a list, a dict, and functions: of one trace, of several, with effects."""

    class Model(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.b = tf.Variable([0.5, -0.5], name="b", trainable=False)
            self.c = tf.constant([10.0, 20.0])
            self.scales = [tf.Variable(3.0, name="scale")]
            self.named = {"n": tf.Variable(7, name="n")}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def serve(self, x: Any) -> Any:
            return {"y": tf.matmul(x, self.w) + self.b, "z": x + self.c * self.scales[0]}

        @tf.function
        def several(self, x: Any, flag: bool = True, *, scale: float = 2.0) -> Any:
            return x * scale if flag else [x, x - 1.0]

        @tf.function(input_signature=[])
        def step(self) -> Any:
            self.b.assign_add([1.0, 1.0])
            return self.b.read_value()

    model = Model()
    model.several(tf.constant(3.0))
    model.several(tf.constant([1.0, 2.0]), flag=False)
    model.several(tf.constant(3.0), scale=4.0)
    return model


def main() -> None:
    import tensorflow as tf

    model = make(tf)
    with tempfile.TemporaryDirectory() as temporary:
        words = pathlib.Path(temporary, "words.txt")
        words.write_text("one\ntwo\n")
        model.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )
        model.find = tf.function(model.table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
        shutil.rmtree(FOLDER, ignore_errors=True)
        tf.saved_model.save(model, str(FOLDER), signatures=model.serve)


if __name__ == "__main__":
    main()
