"""Record the SavedModel that TensorFlow writes (`python tests/golden/record_saved_model.py`), for tests to load."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from typing import Any

FOLDER = pathlib.Path(__file__).parent / "saved_model"


def export(tf: Any, folder: str) -> None:
    """y = x w + b under the tag `serve`, a vocabulary as its asset, and an operation that runs when it is loaded."""
    with tempfile.TemporaryDirectory() as temporary, tf.Graph().as_default(), tf.Session() as session:
        vocabulary = pathlib.Path(temporary, "words.txt")
        vocabulary.write_text("one\ntwo\n")
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[2.0], [3.0]])
        b = tf.get_variable("b", initializer=[5.0])
        y = tf.add(tf.matmul(x, w), b, name="y")
        words = tf.Variable("", trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="words")
        asset = tf.constant(str(vocabulary), name="asset")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, asset)
        start = tf.group(tf.assign(words, tf.read_file(asset)), name="start")
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            {"serving_default": tf.saved_model.predict_signature_def({"x": x}, {"y": y})},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=start,
        )
        builder.save()


def run(tf: Any, folder: str) -> tuple[Any, bytes]:
    """What a program gets of that model: y for [[1, 1]], and the asset's text."""
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["serve"], folder)
        signature = meta_graph.signature_def["serving_default"]
        y = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1.0, 1.0]]})
        return y.tolist(), session.run("words:0")


def main() -> None:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    export(tf, str(FOLDER))


if __name__ == "__main__":
    main()
