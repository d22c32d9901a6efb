"""Checkpoints are TensorFlow's byte for byte, both ways, partitioned and sharded."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden import format_cases as cases
from tests.golden import oracle
from tfexp.core import dtypes, errors
from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.bundle_writer import BundleWriter, merge_bundles
from tfexp.formats.tensor_slice import TensorSlice, parse_shape_and_slice

LIVE = pytest.mark.skipif(not oracle.is_installed(), reason="TensorFlow reads what tfexp writes")


def write(prefix: Path, tensors: Mapping[str, Any]) -> Path:
    with BundleWriter(prefix) as bundle:
        for name, tensor in tensors.items():
            bundle.add(name, tensor)
    return prefix


def write_partitioned(prefix: Path) -> Path:
    with BundleWriter(prefix) as bundle:
        for name, (shape, parts) in cases.PARTITIONED.items():
            for part in map(TensorSlice.parse, parts):
                bundle.add_slice(name, shape, part, cases.PARTITIONED_VALUES[name][part.boxes(shape)])
        bundle.add("whole", cases.BESIDE_PARTITIONED)
    return prefix


def write_sharded(folder: Path) -> Path:
    prefixes = []
    for i, (tensors, spec) in enumerate(zip(cases.SHARDS, cases.SHARD_SLICES, strict=True)):
        part = TensorSlice.parse(spec)
        prefixes.append(folder / "parts" / f"part-{i:05d}-of-00002")
        with BundleWriter(prefixes[-1]) as bundle:
            for name, tensor in tensors.items():
                bundle.add(name, tensor)
            bundle.add_slice("spread", cases.SHARDED_SHAPE, part, cases.SHARDED_VALUES[part.boxes(cases.SHARDED_SHAPE)])
    merge_bundles(list(map(str, prefixes)), folder / "sharded")
    return folder / "sharded"


def same_files(ours: Path, golden: str) -> None:
    found = {p.name.removeprefix(ours.name): p.read_bytes() for p in ours.parent.glob(ours.name + ".*")}
    expected = {p.name.removeprefix(golden): p.read_bytes() for p in cases.FORMATS.glob(golden + ".*")}
    assert sorted(found) == sorted(expected)
    assert found == expected


def same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def test_mix_is_tensorflows(tmp_path: Path) -> None:
    same_files(write(tmp_path / "mix", cases.MIX), "mix")


def test_partitioned_is_tensorflows(tmp_path: Path) -> None:
    same_files(write_partitioned(tmp_path / "p"), "partitioned")


def test_sharded_is_tensorflows(tmp_path: Path) -> None:
    same_files(write_sharded(tmp_path), "sharded")
    assert not (tmp_path / "parts").exists()


def test_index_of_several_blocks_is_tensorflows(tmp_path: Path) -> None:
    write(tmp_path / "many", {cases.many_name(i): np.array(i, np.int32) for i in range(cases.MANY)})
    recorded = json.loads((cases.FORMATS / "facts.json").read_text(encoding="utf-8"))["many_index_sha256"]
    assert hashlib.sha256((tmp_path / "many.index").read_bytes()).hexdigest() == recorded
    with BundleReader(tmp_path / "many") as bundle:
        assert bundle.read(cases.many_name(7919)) == 7919


def test_reads_tensorflows_mix() -> None:
    with BundleReader(cases.FORMATS / "mix") as bundle:
        assert bundle.names() == sorted(cases.MIX)
        for name, expected in cases.MIX.items():
            same(bundle.read(name), expected)
        assert bundle.get_variable_to_shape_map() == {name: list(t.shape) for name, t in cases.MIX.items()}
        kinds = bundle.get_variable_to_dtype_map()
        assert kinds["bfloat16"] is dtypes.bfloat16 and kinds["one string"] is dtypes.string
        assert bundle.has_tensor("scalar") and not bundle.has_tensor("") and not bundle.has_tensor("scala")
        assert bundle.debug_string().decode().splitlines()[:2] == ["b/float64 (DT_DOUBLE) [5]", "bfloat16 (DT_BFLOAT16) [5]"]


def test_reads_tensorflows_partitions() -> None:
    with BundleReader(cases.FORMATS / "partitioned") as bundle:
        assert bundle.names() == ["blocks", "columns", "rows", "whole"]
        for name, expected in cases.PARTITIONED_VALUES.items():
            same(bundle.read(name), expected)
        same(bundle.read("whole"), cases.BESIDE_PARTITIONED)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("rows", "7 5 3,2:0,5"),  # a slice as it was saved
        ("rows", "7 5 2,4:1,3"),  # over three saved ones
        ("rows", "7 5 -:4,1"),
        ("columns", "3 300 0,3:149,2"),
        ("blocks", "2 9000 -:8998,2"),
        ("whole", "11 3,5"),  # a part of what was saved whole
    ],
)
def test_slices_are_read_however_they_were_saved(name: str, spec: str) -> None:
    shape, part = parse_shape_and_slice(spec)
    whole = {**cases.PARTITIONED_VALUES, "whole": cases.BESIDE_PARTITIONED}[name]
    with BundleReader(cases.FORMATS / "partitioned") as bundle:
        same(bundle.get_slice(name, part), whole[part.boxes(shape)])


def test_reads_tensorflows_shards() -> None:
    with BundleReader(cases.FORMATS / "sharded") as bundle:
        for tensors in cases.SHARDS:
            for name, expected in tensors.items():
                same(bundle.read(name), expected)
        same(bundle.read("spread"), cases.SHARDED_VALUES)


@LIVE
def test_tensorflow_reads_ours(tmp_path: Path) -> None:
    tf = oracle.tensorflow()
    whole = {**cases.PARTITIONED_VALUES, "whole": cases.BESIDE_PARTITIONED}
    sharded = {**cases.SHARDS[0], **cases.SHARDS[1], "spread": cases.SHARDED_VALUES}
    for prefix, expected in (
        (write(tmp_path / "mix", cases.MIX), cases.MIX),
        (write_partitioned(tmp_path / "partitioned"), whole),
        (write_sharded(tmp_path), sharded),
    ):
        reader = tf.train.load_checkpoint(str(prefix))
        assert sorted(reader.get_variable_to_shape_map()) == sorted(expected)
        for name, tensor in expected.items():
            np.testing.assert_array_equal(reader.read(name), tensor)


def test_tensors_may_have_any_layout(tmp_path: Path) -> None:
    base = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    tensors = {"t": base.T, "s": base[:, ::2], "big": base.astype(">f8"), "r": base[::-1], "b": np.arange(7) % 2 == 0}
    with BundleReader(write(tmp_path / "m", tensors)) as bundle:
        for name, tensor in tensors.items():
            same(bundle.read(name), tensor.astype(tensor.dtype.newbyteorder("=")))


def test_tensors_beyond_a_piece(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    tensors = {str(n): rng.integers(0, 256, n, np.uint8) for n in ((1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 7)}
    with BundleReader(write(tmp_path / "m", tensors)) as bundle:
        for name, tensor in tensors.items():
            same(bundle.read(name), tensor)


def test_reading_into_an_array(tmp_path: Path) -> None:
    tensor = np.arange(15, dtype=np.float32).reshape(3, 5)
    with BundleReader(write(tmp_path / "m", {"x": tensor})) as bundle:
        out = np.zeros((3, 5), np.float32)
        assert bundle.read("x", out) is out
        same(out, tensor)
        strided = np.zeros((5, 3), np.float32).T
        same(bundle.read("x", strided), tensor)
        for wrong in (np.zeros((5, 3), np.float32), np.zeros((3, 5), np.float64)):
            with pytest.raises(errors.InvalidArgumentError, match=r"'x' in .* is float32 of shape \[3, 5\]; it cannot"):
                bundle.read("x", wrong)


def test_quantized_types_keep_their_name(tmp_path: Path) -> None:
    with BundleWriter(tmp_path / "m") as bundle:
        bundle.add("q", np.array([1, -2, 3], np.int8), dtypes.qint8)
    with BundleReader(tmp_path / "m") as found:
        assert found.dtype("q") is dtypes.qint8
        assert found.read("q").tolist() == [1, -2, 3]


def test_threads_may_read() -> None:
    failures: list[BaseException] = []
    with BundleReader(cases.FORMATS / "mix") as bundle:

        def read() -> None:
            try:
                for name, expected in cases.MIX.items():
                    same(bundle.read(name), expected)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_misuse_is_refused(tmp_path: Path) -> None:
    x = np.zeros((2, 3), np.float32)
    part = TensorSlice.parse("0,1:-")
    with BundleWriter(tmp_path / "m") as bundle:
        bundle.add("x", x)
        bundle.add_slice("y", (2, 3), part, x[:1])
        for call, complaint in (
            (lambda: bundle.add("x", x), "Adding duplicate key: x"),
            (lambda: bundle.add("", x), "must have a name"),
            (lambda: bundle.add_slice("y", (2, 3), part, x[:1]), "Adding duplicate key: y, slice 0,1:-"),
            (lambda: bundle.add_slice("y", (2, 3), part, x), r"has shape \[1, 3\], not \[2, 3\]"),
            (lambda: bundle.add_slice("y", (5, 3), part, x[:1]), "is of another tensor than"),
            (lambda: bundle.add_slice("x", (2, 3), part, x[:1]), "is of another tensor than"),
            (lambda: bundle.add_slice("y", (2, 3), part, x[:1].astype(int)), "is of another tensor than"),
            (lambda: bundle.add("o", np.array([1, None], object)), "o: a tensor of strings cannot hold 1"),
            (lambda: bundle.add("r", np.array([b""], object), dtypes.resource), "cannot hold a resource"),
        ):
            with pytest.raises(errors.InvalidArgumentError, match=complaint):
                call()
    with BundleReader(tmp_path / "m") as found:
        same(found.read("x"), x)
        with pytest.raises(errors.InvalidArgumentError, match=r"the saved slices of 'y' do not cover .*: 3 of 6 elements"):
            found.read("y")
        same(found.get_slice("y", part), x[:1])
        with pytest.raises(errors.NotFoundError, match=r"Key z not found in checkpoint .*m$"):
            found.read("z")


def test_merging_needs_different_tensors(tmp_path: Path) -> None:
    prefixes = [str(write(tmp_path / name, {"x": np.zeros(3)})) for name in "ab"]
    with pytest.raises(errors.InvalidArgumentError, match="b'x' is in two of the checkpoints to merge"):
        merge_bundles(prefixes, tmp_path / "m")
    with pytest.raises(errors.NotFoundError, match=r"Failed to find any matching files for .*none"):
        merge_bundles([str(tmp_path / "none")], tmp_path / "m")
    assert BundleReader(prefixes[0]).has_tensor("x")


def test_merged_checkpoints_merge_again(tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"extra": np.arange(3)})
    merge_bundles([str(write_sharded(tmp_path)), str(other)], tmp_path / "all")
    with BundleReader(tmp_path / "all") as bundle:
        same(bundle.read("extra"), np.arange(3))
        same(bundle.read("spread"), cases.SHARDED_VALUES)
        same(bundle.read("m"), cases.SHARDS[1]["m"])


def test_one_folder_is_made_but_not_two(tmp_path: Path) -> None:
    write(tmp_path / "new" / "m", {"x": np.zeros(3)})
    with pytest.raises(errors.NotFoundError, match="newer/deep; No such file or directory"):
        BundleWriter(tmp_path / "newer" / "deep" / "m")


def test_names_that_look_like_patterns(tmp_path: Path) -> None:
    (tmp_path / "a[0]*").mkdir()
    write(tmp_path / "a[0]*" / "m?", {"x": np.zeros(3)})
    write(tmp_path / "a[0]*" / "m?", {"x": np.ones(3)})
    same(BundleReader(tmp_path / "a[0]*" / "m?").read("x"), np.ones(3))


def test_values_without_dimensions_are_numbers_and_bytes(tmp_path):
    """`NewCheckpointReader.get_tensor` of TensorFlow gives them so; `read` gives arrays."""
    prefix = str(tmp_path / "ck")
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {"text": tf.Variable("abc"), "number": tf.Variable(2.5), "vector": tf.Variable([1, 2])}
        session.run(tf.global_variables_initializer())
        tf.train.Saver(variables).save(session, prefix)
    reader = tf.train.NewCheckpointReader(prefix)
    assert reader.get_tensor("text") == b"abc" and isinstance(reader.get_tensor("number"), np.float32)
    assert reader.get_tensor("vector").tolist() == [1, 2] and reader.read("number").shape == ()
