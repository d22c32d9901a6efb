"""Progress lines, arrays, files, HDF5 and pictures of models."""

from __future__ import annotations

import builtins
import hashlib
import io
import sys
import tarfile
import time
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.graph import Graph
from tfexp.keras.utils import files
from tfexp.keras.utils.arrays import normalize, to_categorical
from tfexp.keras.utils.files import get_file, hash_of_file, validate_file
from tfexp.keras.utils.hdf5_matrix import HDF5Matrix
from tfexp.keras.utils.models import (
    convert_all_kernels_in_model,
    convert_kernel,
    get_source_inputs,
    multi_gpu_model,
    split_over,
)
from tfexp.keras.utils.picture import model_to_dot, plot_model
from tfexp.keras.utils.progbar import Progbar

keras = tf.keras


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with Graph().as_default():
        yield


# --- progress ----------------------------------------------------------------------------------------------------------

Steps = list[tuple[float, int, Any]]  # seconds since the start, steps done, values


def _drawn(monkeypatch: pytest.MonkeyPatch, steps: Steps, target: int | None, **options: Any) -> str:
    out, now = io.StringIO(), [1000.0]
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(time, "time", lambda: now[0])
    bar = Progbar(target, **options)
    for seconds, current, values in steps:
        now[0] = 1000 + seconds
        bar.update(current, values)
    return out.getvalue()


def _values(loss: float, acc: float) -> list[tuple[str, float]]:
    return [("loss", loss), ("acc", acc)]


FOUR: Steps = [
    (1, 1, _values(1, 0.5)),
    (1.02, 2, _values(0.5, 0.25)),
    (2, 3, _values(0.5, 0.25)),
    (3.5, 5, _values(0.5, 2e-4)),
]


def test_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn as TensorFlow's: too soon after the last time it is not."""
    first = "1/5 [=====>........................] - ETA: 4s - loss: 1.0000 - acc: 0.5000"
    second = "3/5 [=================>............] - ETA: 1s - loss: 0.6667 - acc: 0.3333"
    last = "5/5 [==============================] - 4s 700ms/step - loss: 0.6000 - acc: 0.2001"
    rubbed_out = "\b" * len(first)
    assert _drawn(monkeypatch, FOUR, 5) == f"\r{first}{rubbed_out}\r{second}{rubbed_out}\r{last}\n"


def test_one_line_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _drawn(monkeypatch, FOUR, 5, verbose=2) == "5/5 - 4s - loss: 0.6000 - acc: 0.2001\n"
    assert _drawn(monkeypatch, FOUR, 5, verbose=0) == ""


def test_an_unknown_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _drawn(monkeypatch, [(1, 1, _values(1, 0.5)), (2, 2, _values(0.5, 0.25))], None)
    assert text.split("\r")[1:] == [
        "      1/Unknown - 1s 1s/step - loss: 1.0000 - acc: 0.5000" + "\b" * 57,
        "      2/Unknown - 2s 1s/step - loss: 0.7500 - acc: 0.3750",
    ]


@pytest.mark.parametrize(
    ("seconds", "current", "ending"),
    [
        (1, 50, "ETA: 19s"),
        (10, 50, "ETA: 3:10"),
        (1000, 50, "ETA: 5:16:40"),
        (20000, 1000, "20000s 20s/sample"),
        (0.02, 1000, "0s 20us/sample"),
    ],
)
def test_times(monkeypatch: pytest.MonkeyPatch, seconds: float, current: int, ending: str) -> None:
    assert _drawn(monkeypatch, [(seconds, current, None)], 1000, unit_name="sample").rstrip().endswith(ending)


def test_values_that_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: Steps = [(1, 50, _values(1, 0.5)), (200, 100, _values(0.5, 1e-5))]
    text = _drawn(monkeypatch, steps, 100, verbose=2, stateful_metrics=["acc"])
    assert text == "100/100 - 200s - loss: 0.7500 - acc: 1.0000e-05\n"


def test_a_shorter_line_covers_a_longer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _drawn(monkeypatch, [(1, 1, [("name", 1e-9)]), (2, 2, [("name", 8.0)])], None)
    assert text.endswith("2/Unknown - 2s 1s/step - name: 4.0000    ")


# --- arrays ------------------------------------------------------------------------------------------------------------


def test_classes_as_rows() -> None:
    assert to_categorical([0, 2, 1]).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    rows = to_categorical([[0], [2]], 4, "int32")
    assert rows.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert rows.dtype == np.int32
    assert to_categorical([[0, 1], [2, 1]]).shape == (2, 2, 3)


def test_norms() -> None:
    assert normalize(np.array([[3.0, 4.0], [0, 0]])).tolist() == [[0.6, 0.8], [0, 0]]
    np.testing.assert_allclose(normalize(np.array([[3.0, 4.0], [1, 2]]), axis=0, order=1), [[0.75, 2 / 3], [0.25, 1 / 3]])


# --- files -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A folder with a file, and with the file in archives."""
    folder = tmp_path / "origin"
    (folder / "inner").mkdir(parents=True)
    text = folder / "inner" / "text.txt"
    text.write_text("float like a butterfly")
    with tarfile.open(folder / "inner.tar.gz", "w:gz") as tar:
        tar.add(folder / "inner", "inner")
    with zipfile.ZipFile(folder / "inner.zip", "w") as zipped:
        zipped.write(text, "inner/text.txt")
    return folder


def test_a_file_is_fetched_once(origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = origin / "inner" / "text.txt"
    path = get_file("text.txt", source.as_uri(), cache_dir=str(tmp_path))
    assert path == str(tmp_path / "datasets" / "text.txt")
    assert Path(path).read_text() == "float like a butterfly"
    assert "Downloading data from file://" in capsys.readouterr().out
    source.unlink()
    assert get_file("text.txt", source.as_uri(), cache_dir=str(tmp_path)) == path
    assert capsys.readouterr().out == ""
    assert [p.name for p in Path(path).parent.iterdir()] == ["text.txt"]


def test_the_cache_is_in_kerass_folder(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    path = get_file("a.txt", (origin / "inner" / "text.txt").as_uri(), cache_subdir="own")
    assert path == str(tmp_path / "home" / "own" / "a.txt")


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_hashes(origin: Path, tmp_path: Path, algorithm: str) -> None:
    source = origin / "inner" / "text.txt"
    good = hashlib.new(algorithm, source.read_bytes()).hexdigest()
    assert hash_of_file(source, algorithm) == good
    assert validate_file(source, good)
    stale = tmp_path / "datasets" / "text.txt"
    stale.parent.mkdir()
    stale.write_text("old")
    path = get_file("text.txt", source.as_uri(), file_hash=good, cache_dir=str(tmp_path))
    assert Path(path).read_text() == "float like a butterfly"
    with pytest.raises(ValueError, match="corrupted"):
        get_file("other.txt", source.as_uri(), md5_hash="0" * 32, cache_dir=str(tmp_path))


def test_archives(origin: Path, tmp_path: Path) -> None:
    folder = Path(get_file("inner", (origin / "inner.tar.gz").as_uri(), untar=True, cache_dir=str(tmp_path)))
    assert (folder / "text.txt").exists()
    for number, archive in enumerate(["inner.tar.gz", "inner.zip"]):
        path = get_file(
            archive, (origin / archive).as_uri(), extract=True, cache_dir=str(tmp_path), cache_subdir=str(number)
        )
        assert (Path(path).parent / "inner" / "text.txt").exists()
    plain = get_file("plain", (origin / "inner.zip").as_uri(), extract=True, archive_format=None, cache_dir=str(tmp_path))
    assert not (Path(plain).parent / "inner.zip").exists()
    assert not files._extract_archive(origin / "inner" / "text.txt", tmp_path)


def test_what_cannot_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"URL fetch failure on file:.*put the file at .*gone\.txt"):
        get_file("gone.txt", (tmp_path / "nowhere").as_uri(), cache_dir=str(tmp_path))
    assert list((tmp_path / "datasets").iterdir()) == []


# --- HDF5 --------------------------------------------------------------------------------------------------------------


def _without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real: Callable[..., Any] = builtins.__import__

    def refuse(wanted: str, *args: Any, **kwargs: Any) -> Any:
        if wanted == name:
            raise ImportError(f"no {name}")
        return real(wanted, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_rows_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(40.0).reshape(10, 4)
    monkeypatch.setitem(sys.modules, "h5py", types.SimpleNamespace(File=lambda path, mode: {"x": data}))
    monkeypatch.setattr(HDF5Matrix, "refs", {})
    rows = HDF5Matrix("file.h5", "x", start=2, end=7, normalizer=lambda x: x[..., ::2] + 1)
    assert (rows.shape, rows.dtype, rows.ndim, rows.size, len(rows)) == ((5, 2), np.float64, 2, 10, 5)
    expected = data[2:7, ::2] + 1
    for key in (slice(1, 3), slice(None), 0, [0, 3], np.array([1, 2]), range(2, 4)):
        np.testing.assert_array_equal(rows[key], expected[np.array(key) if isinstance(key, range) else key])
    for beyond in (5, slice(4, 6), [1, 5], np.array([7])):
        with pytest.raises(IndexError):
            rows[beyond]
    with pytest.raises(TypeError):
        rows[None]
    assert HDF5Matrix("file.h5", "x").shape == (10, 4)


def test_without_h5py(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "h5py")
    with pytest.raises(ImportError, match="requires HDF5 and h5py"):
        HDF5Matrix("file.h5", "x")


# --- models ------------------------------------------------------------------------------------------------------------


def _two_inputs() -> Any:
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = keras.layers.Dense(3, name="shared")
    joined = keras.layers.concatenate([shared(a), shared(b)], name="joined")
    return keras.Model([a, b], keras.layers.Dense(2, name="out")(joined), name="pair")


def test_where_tensors_come_from() -> None:
    model = _two_inputs()
    assert get_source_inputs(model.output) == model.inputs
    assert get_source_inputs(model.inputs[0]) == model.inputs[:1]
    plain = tf.constant(1.0)
    assert get_source_inputs(plain) is plain


def test_kernels_backwards() -> None:
    kernel = np.arange(24.0).reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(convert_kernel(kernel), kernel[::-1, ::-1])
    np.testing.assert_array_equal(convert_kernel(kernel[0]), kernel[0][::-1])
    with pytest.raises(ValueError, match="Invalid kernel shape"):
        convert_kernel(kernel[0, 0])

    class Conv2D(keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_weight("kernel", (2, 3, 2, 2), initializer=tf.constant_initializer(kernel))
            super().build(input_shape)

    layer = Conv2D()
    model = keras.Sequential([layer])
    layer.build((None, 3))
    convert_all_kernels_in_model(model)
    np.testing.assert_array_equal(layer.get_weights()[0], kernel[::-1, ::-1])


def test_several_gpus() -> None:
    model = _two_inputs()
    with pytest.raises(ValueError, match="gpus >= 2"):
        multi_gpu_model(model, gpus=1)
    with pytest.raises(ValueError, match=r"However this machine only has: \['/cpu:0'"):
        multi_gpu_model(model, gpus=[0, 97])


@pytest.mark.parametrize("relocate", [False, True])
def test_parts_of_a_batch(relocate: bool) -> None:
    model = _two_inputs()
    parts = split_over(model, ["/cpu:0"] * 3, "/cpu:0", relocate)
    x = np.random.RandomState(0).rand(2, 7, 3)
    session = keras.backend.get_session()
    if relocate:
        parts.set_weights(model.get_weights())
    whole, split = (session.run(m.output, dict(zip(m.inputs, x, strict=True))) for m in (model, parts))
    np.testing.assert_allclose(split, whole, rtol=1e-6)
    assert split.shape == (7, 2)
    assert parts.output_names == ["out"]


# --- pictures ----------------------------------------------------------------------------------------------------------


class Drawing:
    """Stands in for pydot's Dot, Cluster, Node and Edge: remembers what it is made of."""

    def __init__(self, *args: Any, **options: Any):
        self.args, self.options = args, options
        self.nodes: list[Any] = []
        self.edges: list[Any] = []
        self.subgraphs: list[Any] = []
        self.written: list[Any] = []

    def set(self, name: str, value: Any) -> None:
        self.options[name] = value

    def set_node_defaults(self, **options: Any) -> None:
        self.options.update(options)

    def add_node(self, node: Any) -> None:
        self.nodes.append(node)

    def add_edge(self, edge: Any) -> None:
        self.edges.append(edge)

    def add_subgraph(self, subgraph: Any) -> None:
        self.subgraphs.append(subgraph)

    def write(self, *args: Any, **options: Any) -> None:
        self.written.append((args, options))

    def labels(self) -> dict[str, str]:
        inner = {name: label for subgraph in self.subgraphs for name, label in subgraph.labels().items()}
        return {**inner, **{node.args[0]: node.options["label"] for node in self.nodes}}

    def arrows(self, labels: dict[str, str]) -> set[tuple[str, ...]]:
        inner = {arrow for subgraph in self.subgraphs for arrow in subgraph.arrows(labels)}
        return inner | {tuple(labels[end] for end in edge.args) for edge in self.edges}


@pytest.fixture
def pydot(monkeypatch: pytest.MonkeyPatch) -> Any:
    fake = types.SimpleNamespace(Dot=Drawing, Cluster=Drawing, Node=Drawing, Edge=Drawing)
    monkeypatch.setitem(sys.modules, "pydot", fake)
    return fake


def test_a_drawing(pydot: Any) -> None:
    dot = model_to_dot(_two_inputs(), rankdir="LR", dpi=50)
    assert (dot.options["rankdir"], dot.options["dpi"], dot.options["shape"]) == ("LR", 50, "record")
    labels = dot.labels()
    assert sorted(labels.values()) == [
        "a: InputLayer",
        "b: InputLayer",
        "joined: Concatenate",
        "out: Dense",
        "shared: Dense",
    ]
    assert dot.arrows(labels) == {
        ("a: InputLayer", "shared: Dense"),
        ("b: InputLayer", "shared: Dense"),
        ("shared: Dense", "joined: Concatenate"),
        ("joined: Concatenate", "out: Dense"),
    }


def test_shapes_in_the_boxes(pydot: Any) -> None:
    labels = model_to_dot(_two_inputs(), show_shapes=True, show_layer_names=False).labels().values()
    assert "Dense\n|{input:|output:}|{{(None, 6)}|{(None, 2)}}" in labels
    assert "Concatenate\n|{input:|output:}|{{[(None, 3), (None, 3)]}|{(None, 6)}}" in labels


def test_models_in_models(pydot: Any) -> None:
    x = keras.Input((3,), name="x")
    model = keras.Model(x, keras.layers.Dense(1, name="end")(_two_inputs()([x, x])))
    assert "pair: Model" in model_to_dot(model).labels().values()
    dot = model_to_dot(model, expand_nested=True)
    assert [subgraph.options["graph_name"] for subgraph in dot.subgraphs] == ["pair"]
    arrows = dot.arrows(dot.labels())
    assert ("x: InputLayer", "a: InputLayer") in arrows
    assert ("x: InputLayer", "b: InputLayer") in arrows
    assert ("out: Dense", "end: Dense") in arrows


def test_wrappers_and_chains(pydot: Any) -> None:
    model = keras.Sequential(name="chain")
    with pytest.raises(ValueError, match="has not yet been built"):
        model_to_dot(model)
    model.add(keras.layers.TimeDistributed(keras.layers.Dense(2, name="inner"), input_shape=(4, 3), name="each"))
    labels = model_to_dot(model).labels()
    assert "each(inner): TimeDistributed(Dense)" in labels.values()
    assert len(labels) == 2


def test_an_image_file(pydot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Drawing] = []
    monkeypatch.setattr(pydot, "Dot", lambda: made.append(Drawing()) or made[-1])
    _without(monkeypatch, "IPython")
    assert plot_model(_two_inputs(), "a.svg") is None
    assert plot_model(_two_inputs(), "plain") is None
    assert [drawing.written for drawing in made] == [[(("a.svg",), {"format": "svg"})], [(("plain",), {"format": "png"})]]


def test_without_pydot(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "pydot")
    with pytest.raises(ImportError, match="You must install pydot and graphviz"):
        plot_model(_two_inputs())
