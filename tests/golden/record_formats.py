"""Records files that real TensorFlow writes: `python -m tests.golden.record_formats`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`). What it writes, from
the values in `format_cases`, goes to `tests/golden/formats`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from typing import Any

import numpy as np

from tests.golden import format_cases as cases
from tests.golden import oracle


def main() -> None:
    """Writes all recordings anew."""
    tf = oracle.tensorflow()
    shutil.rmtree(cases.FORMATS, ignore_errors=True)
    cases.FORMATS.mkdir()
    facts = {"tensor_protos": tensor_protos(tf), "many_index_sha256": many_index(tf), "example": example(tf).hex()}
    facts["sequence_example"] = sequence_example(tf).hex()
    save(tf, "mix", list(cases.MIX), [""] * len(cases.MIX), list(cases.MIX.values()))
    partitioned(tf)
    sharded(tf)
    records(tf)
    events(tf)
    checkpoint_state(tf)
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    (cases.FORMATS / "facts.json").write_text(text, encoding="utf-8")
    for path in sorted(cases.FORMATS.iterdir()):
        print(f"{path.stat().st_size:8d} {path.name}")


def tensor_protos(tf: Any) -> dict[str, str]:
    """The serialized TensorProto of each case, in hex."""
    recorded = {}
    for name, (values, dtype, shape) in cases.TENSOR_PROTOS.items():
        proto = tf.make_tensor_proto(values, dtype and tf.as_dtype(dtype), shape)
        recorded[name] = proto.SerializeToString(deterministic=True).hex()
    return recorded


def save(tf: Any, name: str, names: list[str], slices: list[str], tensors: list[Any]) -> None:
    """A bundle by SaveV2; `name` may be a whole path."""
    with tf.Graph().as_default(), tf.Session() as session:
        # Placeholders, for constants of bfloat16 and strings alike.
        fed = [tf.placeholder(tf.as_dtype(t.dtype) if t.dtype != object else tf.string, t.shape) for t in tensors]
        op = tf.raw_ops.SaveV2(prefix=str(cases.FORMATS / name), tensor_names=names, shape_and_slices=slices, tensors=fed)
        session.run(op, dict(zip(fed, tensors, strict=True)))


def partitioned(tf: Any) -> None:
    """Tensors in slices beside one that is whole."""
    names, slices, tensors = [], [], []
    for name, (shape, parts) in cases.PARTITIONED.items():
        for part in parts:
            names.append(name)
            slices.append(f"{' '.join(map(str, shape))} {part}")
            tensors.append(box(cases.PARTITIONED_VALUES[name], part))
    save(tf, "partitioned", [*names, "whole"], [*slices, ""], [*tensors, cases.BESIDE_PARTITIONED])


def sharded(tf: Any) -> None:
    """Two bundles made one by MergeV2Checkpoints."""
    prefixes = []
    for i, (tensors, part) in enumerate(zip(cases.SHARDS, cases.SHARD_SLICES, strict=True)):
        prefix = f"parts/part-{i:05d}-of-00002"
        shape = " ".join(map(str, cases.SHARDED_SHAPE))
        save(
            tf, prefix, [*tensors, "spread"], [*[""] * len(tensors), f"{shape} {part}"],
            [*tensors.values(), box(cases.SHARDED_VALUES, part)],
        )  # fmt: skip
        prefixes.append(str(cases.FORMATS / prefix))
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=str(cases.FORMATS / "sharded"))
        )


def many_index(tf: Any) -> str:
    """The digest of an index of several blocks."""
    with tempfile.TemporaryDirectory() as folder:
        names = [cases.many_name(i) for i in range(cases.MANY)]
        save(tf, os.path.join(folder, "many"), names, [""] * cases.MANY, [np.array(i, np.int32) for i in range(cases.MANY)])
        with open(os.path.join(folder, "many.index"), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()


def box(array: Any, part: str) -> Any:
    """The elements of a slice."""
    pairs = [None if p == "-" else tuple(map(int, p.split(","))) for p in part.split(":")]
    return array[tuple(slice(None) if pair is None else slice(pair[0], sum(pair)) for pair in pairs)]


def records(tf: Any) -> None:
    """TFRecord files: plain, zlib, gzip."""
    for kind in ("", "ZLIB", "GZIP"):
        path = str(cases.FORMATS / f"records{kind and '.'}{kind.lower()}.tfrecord")
        with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(kind)) as writer:
            for record in cases.RECORDS:
                writer.write(record)


def events(tf: Any) -> None:
    """An event file of a FileWriter."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        writer = tf.summary.FileWriter(folder)
        for step, tag, value in cases.EVENTS:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)]), step)
        writer.close()
        (name,) = os.listdir(folder)
        shutil.copy(os.path.join(folder, name), cases.FORMATS / "events")


def checkpoint_state(tf: Any) -> None:
    """The `checkpoint` file of three saves in a folder of the working directory."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("run")
        tf.train.update_checkpoint_state("run", "run/模型-3", ["run/模型-1", "/elsewhere/模型-2", "run/模型-3"])
        os.chdir(home)
        shutil.copy(os.path.join(folder, "run", "checkpoint"), cases.FORMATS / "checkpoint")


def example(tf: Any) -> bytes:
    """A serialized Example."""
    train = tf.train
    features = {
        "label": train.Feature(int64_list=train.Int64List(value=[3, -1])),
        "image": train.Feature(bytes_list=train.BytesList(value=[b"\0\xff", b""])),
        "weights": train.Feature(float_list=train.FloatList(value=[0.5, -2.0, 1.1])),
        "nothing": train.Feature(),
    }
    return train.Example(features=train.Features(feature=features)).SerializeToString(deterministic=True)


def sequence_example(tf: Any) -> bytes:
    """A serialized SequenceExample."""
    train = tf.train
    steps = [train.Feature(int64_list=train.Int64List(value=[i])) for i in (5, 7)]
    return train.SequenceExample(
        context=train.Features(feature={"id": train.Feature(bytes_list=train.BytesList(value=[b"x"]))}),
        feature_lists=train.FeatureLists(feature_list={"tokens": train.FeatureList(feature=steps)}),
    ).SerializeToString(deterministic=True)


if __name__ == "__main__":
    main()
