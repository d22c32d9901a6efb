"""SaveV2, RestoreV2, MergeV2Checkpoints, ShardedFilename: what `tf.train.Saver` is made of; and ops of the first format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.formats.bundle_reader import BundleReader
from tfexp.ops.save import (
    merge_v2_checkpoints,
    restore_v2,
    save_v2,
    sharded_filename,
)


@pytest.fixture(autouse=True)
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


WHOLE = np.arange(35, dtype=np.float32).reshape(5, 7)
WORDS = np.array([b"x", b"", b"long" * 100], object)


def test_tensors_of_several_types(session: Any, tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    names = ["b", "a", "c"]
    values = [WHOLE, np.int64(-3), WORDS]
    session.run(save_v2(prefix, names, [""] * 3, values))
    restored = restore_v2(prefix, names, [""] * 3, dtypes=[tf.float32, tf.int64, tf.string])
    for got, expected in zip(session.run(restored), values, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert [t.get_shape().ndims for t in restored] == [None] * 3


def test_slices_in_and_out(session: Any, tmp_path: Path) -> None:
    """Written in two parts, read whole, by row, and by a part that lies across both."""
    prefix = str(tmp_path / "m")
    session.run(save_v2(prefix, ["w", "w"], ["5 7 0,2:-", "5 7 2,3:-"], [WHOLE[:2], WHOLE[2:]]))
    specs = ["", "5 7 1,3:2,4", "5 7 4,1:-"]
    restored = restore_v2(prefix, ["w"] * 3, specs, dtypes=[tf.float32] * 3)
    assert [t.get_shape().as_list() for t in restored[1:]] == [[3, 4], [1, 7]]
    for got, expected in zip(session.run(restored), (WHOLE, WHOLE[1:4, 2:6], WHOLE[4:]), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_names_of_shards(session: Any) -> None:
    shard = tf.placeholder(tf.int32, [])
    name = sharded_filename("a/model", shard, 12)
    assert name.get_shape() == []
    assert [session.run(name, {shard: i}) for i in (3, 11, 0)] == [
        b"a/model-00003-of-00012",
        b"a/model-00011-of-00012",
        b"a/model-00000-of-00012",
    ]
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        sharded_filename("a", [1], 2)


def test_shards_become_one_checkpoint(session: Any, tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    parts = [sharded_filename(prefix + "_temp/part", i, 2) for i in range(2)]
    saved = [save_v2(part, [f"t{i}"], [""], [WHOLE + i]) for i, part in enumerate(parts)]
    with tf.control_dependencies(saved):
        merged = merge_v2_checkpoints(parts, prefix)
    session.run(merged)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.data-00000-of-00002",
        "m.data-00001-of-00002",
        "m.index",
    ]
    with BundleReader(prefix) as reader:
        np.testing.assert_array_equal(reader.get_tensor("t1"), WHOLE + 1)


def test_the_name_may_be_fed(session: Any, tmp_path: Path) -> None:
    prefix = tf.placeholder(tf.string, [])
    names, specs = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string)
    save = save_v2(prefix, names, specs, [WHOLE])
    restored = restore_v2(prefix, names, specs, dtypes=[tf.float32])
    for path in ("one", "two", "three"):
        fed = {prefix: str(tmp_path / path), names: [path], specs: [""]}
        session.run(save, fed)
        np.testing.assert_array_equal(session.run(restored, fed)[0], WHOLE)


def test_shapes_that_cannot_work() -> None:
    with pytest.raises(ValueError, match=r"2 and 1|1 and 2"):
        save_v2("m", ["a", "b"], [""], [WHOLE])
    with pytest.raises(ValueError, match="rank"):
        save_v2(["m"], ["a"], [""], [WHOLE])
    with pytest.raises(ValueError, match=r"2 and 1|1 and 2"):
        restore_v2("m", ["a"], ["", ""], dtypes=[tf.float32])
    with pytest.raises(ValueError, match="rank"):
        merge_v2_checkpoints("m", "n")


def test_errors_of_a_run(session: Any, tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    session.run(save_v2(prefix, ["w"], [""], [WHOLE]))

    def restore(name: str, spec: str, dtype: Any, path: str = prefix) -> None:
        session.run(restore_v2(path, [name], [spec], dtypes=[dtype]))

    with pytest.raises(errors.NotFoundError, match="Key x not found in checkpoint"):
        restore("x", "", tf.float32)
    with pytest.raises(errors.InvalidArgumentError, match="expected dtype double does not equal original dtype float"):
        restore("w", "", tf.float64)
    with pytest.raises(errors.InvalidArgumentError, match="does not match the shape stored in checkpoint"):
        restore("w", "5 9 0,5:0,7", tf.float32)
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files"):
        restore("w", "", tf.float32, str(tmp_path / "none"))
    (tmp_path / "m.index").write_bytes(b"not a table")
    with pytest.raises(errors.DataLossError, match=r"m.index"):
        restore("w", "", tf.float32)


# --- the first format -------------------------------------------------------------------------------------------------
