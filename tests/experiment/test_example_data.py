"""The sources of examples: what they read, how it is split, and what they say about files that are wrong."""

from __future__ import annotations

import dataclasses
import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.datasets

from tfexp.experiment.datasets.bundled import BreastCancer, Diabetes, Digits
from tfexp.experiment.datasets.csv_file import CsvFile
from tfexp.experiment.datasets.dataset import batch_rows, prepare
from tfexp.experiment.datasets.line import Line
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import ExperimentError, SettingError

SPLIT: dict[str, Any] = {"standardize": True, "test_fraction": 0.2, "split_seed": 3}
LINE = Line(standardize=False, test_fraction=0.2, split_seed=0, points=100, slope=2.0, noise=0.3, noise_seed=0)


def csv(path: Path, **changes: Any) -> CsvFile:
    settings = {
        "label": "kind",
        "classes": 3,
        "header": True,
        "delimiter": ",",
        "ignore": (),
        "ignore_errors": False,
        **SPLIT,
    }
    return CsvFile(path=str(path), **{**settings, **changes})


@pytest.mark.parametrize(
    ("source", "loader", "options"),
    [
        (Diabetes(**SPLIT), "load_diabetes", {"scaled": False}),
        (BreastCancer(**SPLIT), "load_breast_cancer", {}),
        (Digits(**SPLIT), "load_digits", {}),
    ],
)
def test_bundled_data_is_what_scikit_learn_loads(source: Source, loader: str, options: dict[str, Any]) -> None:
    reference = getattr(sklearn.datasets, loader)(**options)
    table = source.read()
    np.testing.assert_array_equal(table.features, reference.data)
    np.testing.assert_array_equal(table.labels, reference.target)
    assert len(table.columns) == reference.data.shape[1]
    if table.classes is not None:
        assert table.classes == len(reference.target_names)
        assert (table.class_names or tuple(range(table.classes))) == tuple(reference.target_names)


def test_line_is_the_documents_data() -> None:
    table = LINE.read()
    assert table.features[[0, 99], 0].tolist() == [-1.0, 1.0]
    np.random.seed(0)
    np.testing.assert_array_equal(
        table.labels, 2 * np.linspace(-1, 1, 100) + np.random.randn(*np.linspace(-1, 1, 100).shape) * 0.3
    )


def test_split_is_a_partition_that_the_seed_decides() -> None:
    parts = prepare(LINE)
    rows = np.concatenate([parts.train.features, parts.test.features])
    assert (parts.train.rows, parts.test.rows) == (80, 20)
    assert sorted(rows[:, 0]) == sorted(LINE.read().features[:, 0].astype(np.float32))
    again, other = prepare(LINE), prepare(dataclasses.replace(LINE, split_seed=1))
    np.testing.assert_array_equal(parts.test.features, again.test.features)
    assert not np.array_equal(parts.test.features, other.test.features)
    assert parts.digest == again.digest == other.digest
    assert parts.digest != prepare(dataclasses.replace(LINE, noise_seed=1)).digest


def test_standardizing_uses_the_training_rows_only_and_can_be_undone() -> None:
    source = Diabetes(**SPLIT)
    parts, raw = prepare(source), prepare(dataclasses.replace(source, standardize=False))
    np.testing.assert_allclose(parts.train.features.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(parts.train.features.std(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(
        parts.test.labels * parts.spec.label_scale + parts.spec.label_shift, raw.test.labels, rtol=1e-5
    )
    constant = prepare(Digits(**SPLIT)).train.features[:, 0]  # the first pixel is always white
    assert not constant.any()


def test_batches_of_an_epoch_share_no_row_and_depend_on_seed_and_step_alone() -> None:
    rows, size = 47, 5
    epochs = [[batch_rows(11, step, rows, size) for step in range(9 * e, 9 * e + 9)] for e in range(3)]
    for epoch in epochs:
        seen = np.concatenate(epoch)
        assert len(set(seen.tolist())) == 45
        assert set(seen.tolist()) <= set(range(rows))
    assert not np.array_equal(epochs[0][0], epochs[1][0])
    assert not np.array_equal(epochs[0][0], batch_rows(12, 0, rows, size))
    np.testing.assert_array_equal(epochs[2][7], batch_rows(11, 25, rows, size))
    assert epochs[0][0].tolist() == [22, 30, 37, 26, 2]  # the stream must never change: old runs could not resume


def test_csv_columns_are_found_by_name_or_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfid;wide; kind\r\n7;1.5;2\r\n\r\n8;-2e3;0\r\n9; 4 ;1.0\r\n")
    table = csv(path, delimiter=";", ignore=("id",)).read()
    np.testing.assert_array_equal(table.features, [[1.5], [-2000], [4]])
    np.testing.assert_array_equal(table.labels, [2, 0, 1])
    assert table.columns == ("wide",)
    assert table.labels.dtype == np.int64

    path.write_text("1,2,0.5\n3,4,1.5\n")
    table = csv(path, header=False, label="2", classes=None).read()
    np.testing.assert_array_equal(table.features, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(table.labels, [0.5, 1.5])
    assert table.columns == ("0", "1")


def test_classes_may_have_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kind,a\nemu,1\n cat,2\nemu,3\nold dog,4\n")
    table = csv(path, classes=None, class_names=("cat", "old dog", "emu")).read()
    np.testing.assert_array_equal(table.labels, [2, 0, 2, 1])
    assert (table.labels.dtype, table.classes, table.class_names) == (np.int64, 3, ("cat", "old dog", "emu"))

    with pytest.raises(
        ExperimentError, match=r"line 2, column 'kind': the label 'emu' is none of data\.class_names: cat, old"
    ):
        csv(path, classes=None, class_names=("cat", "old dog")).read()
    with pytest.raises(ExperimentError, match=r"'emu' is not a number; data\.class_names=\[…\] says what the classes"):
        csv(path, classes=None).read()
    with pytest.raises(SettingError, match=r"^classes: 3 are not as many as data\.class_names has: 2$"):
        csv(path, class_names=("cat", "emu"))
    with pytest.raises(SettingError, match=r"^class_names: two classes are called 'emu'$"):
        csv(path, class_names=("emu", "cat", "emu"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{path}: the file is empty"),
        (b"a,kind\n", "{path}: no rows of data; at least two are needed"),
        (b"a,kind\n1,0\n", "{path}: 1 row of data; at least two are needed"),
        (b"kind\n1\n", "{path}: there is no column beside the label 'kind' to learn from"),
        (b"a,a,kind\n1,2,0\n", "{path}, line 1: two columns are called 'a'"),
        (
            b"a,kind\n1,0\nx,2\n",
            "{path}, line 3, column 'a': 'x' is not a number; data.ignore=[…] leaves columns out (record",
        ),
        (b"a,kind\n1,0\n\n2,x\n", "{path}, line 4, column 'kind': 'x' is not a number"),
        (b"a,kind\n1,0\n1_0,1\n", "{path}, line 3, column 'a': '1_0' is not a number"),
        (b"a,kind\n1,0\n\x1b[1m\x00,1\n", "{path}, line 3, column 'a': '\\x1b[1m\\x00' is not a number"),
        (b"a,kind\n1,0\n" + 99 * b"x" + b",1\n", "{path}, line 3, column 'a': '" + 60 * "x" + "…' is not a number"),
        (b"a,kind\n1,0\n,1\n", "{path}, line 3, column 'a': the cell is empty"),
        (b"a,kind\ninf,0\n", "{path}, line 2, column 'a': 'inf' is not a finite number of float32"),
        (b"a,kind\n1,0\n-1.8e308,0\n", "{path}, line 3, column 'a': '-1.8e308' is not a finite number of float32"),
        (b"a,kind\n4e38,0\n", "{path}, line 2, column 'a': '4e38' is not a finite number of float32"),
        (b"a,kind\n1,0\n1\n", "{path}, line 3: 1 columns where 2 are expected"),
        (b"a,kind\n1,0\n1,2,3\n", "{path}, line 3: 3 columns where 2 are expected"),
        (
            b"a,kind\n1,0\n2,3\n",
            "{path}, line 3, column 'kind': the label 3 is not one of the 3 classes 0 to 2 (data.classes=3)",
        ),
        (
            b"a,kind\n1,0.5\n",
            "{path}, line 2, column 'kind': the label 0.5 is not one of the 3 classes 0 to 2 (data.classes=3)",
        ),
        (b'a,kind\n1,0\n"2,1\n', "{path}, line 3: unexpected end of data (record 2, at byte 11)"),
        (b"a,kind\n1,\xff\n", "{path}: not a text file in UTF-8: 'utf-8' codec can't decode byte 0xff in position"),
        (None, "data.path: {path} cannot be read: No such file or directory"),
    ],
)
def test_wrong_csv_is_named_by_line_and_column(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ExperimentError) as raised:
        csv(path).read()
    assert str(raised.value).startswith(message.format(path=path))


def test_a_folder_is_no_csv_file(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=rf"^data\.path: {tmp_path} cannot be read: Is a directory$"):
        csv(tmp_path).read()


def test_another_delimiter_is_thought_of(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("a;kind\n1;0\n2;1\n")
    with pytest.raises(
        SettingError, match=r"The choices are: a;kind; if these are several columns, give their data\.delimiter"
    ):
        csv(tmp_path / "some.csv").read()


def test_cells_may_be_between_tabs(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('a b\tkind\n"1"\t0\n2\t1\n')
    for delimiter in (r"\t", "\t"):
        table = csv(path, delimiter=delimiter).read()
        assert (table.columns, table.features.tolist()) == (("a b",), [[1], [2]])


def test_wrong_csv_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    lines = [b"\xef\xbb\xbfa,kind", b"1,0", b"x,1", b'2,"1', b"", b'"x', b"3,2", b"4", b"5,\xff", b"6,1,1", b"7,9", b"8,1"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    table = csv(path, ignore_errors=True).read()
    np.testing.assert_array_equal(table.features[:, 0], [1, 3, 8])
    assert table.skipped.rows == 6
    assert table.skipped.first == (
        f"{path}, line 3, column 'a': 'x' is not a number; data.ignore=[…] leaves columns out (record 2, at byte 14)",
        f"{path}, line 6: ',' expected after '\"' (record 3, at byte 18)",
        f"{path}, line 8: 1 columns where 2 are expected (record 5, at byte 31)",
        f"{path}, line 9, column 'kind': '\N{REPLACEMENT CHARACTER}' is not a number; data.class_names=[…] says what "
        "the classes are called (record 6, at byte 33)",
        f"{path}, line 10: 3 columns where 2 are expected (record 7, at byte 37)",
    )
    assert prepare(csv(path, ignore_errors=True)).skipped == table.skipped


def test_several_csv_files_are_one_table_however_they_are_compressed(tmp_path: Path) -> None:
    for number, (suffix, pack) in enumerate([("", bytes), (".gz", gzip.compress), (".zz", zlib.compress)]):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / f"some.csv{suffix}").write_bytes(pack(b"a,kind\n%d,0\n" % number))
    table = csv(tmp_path / "*" / "some.csv*").read()
    np.testing.assert_array_equal(table.features, [[0], [1], [2]])
    (tmp_path / "2" / "some.csv.zz").write_bytes(b"a,kind\n1,0\n")
    with pytest.raises(ExperimentError, match=r"some\.csv\.zz: damaged compression after byte 0: "):
        csv(tmp_path / "*" / "some.csv*").read()
    (tmp_path / "2" / "some.csv.zz").write_bytes(zlib.compress(b"b,kind\n1,0\n"))
    with pytest.raises(ExperimentError, match=r"some\.csv\.zz: its columns are b, kind; those before it have a, kind"):
        csv(tmp_path / "*" / "some.csv*").read()
    with pytest.raises(ExperimentError, match=r"data\.path: there is no file .*x\*"):
        csv(tmp_path / "x*").read()


def test_csv_label_that_is_not_there_gets_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("wide,kind\n1,0\n2,1\n")
    with pytest.raises(SettingError) as raised:
        csv(path, label="kin").read()
    assert str(raised.value) == (
        f"data.label: there is no column in {path} called 'kin'; did you mean 'kind'? The choices are: kind, wide"
    )


@dataclasses.dataclass(frozen=True)
class Given(Source):
    """A source of any table."""

    table: Any = None

    def read(self) -> Table:
        return self.table


@pytest.mark.parametrize(
    ("features", "labels", "classes", "message"),
    [
        (np.ones([3]), np.ones(3), None, "features [3] and labels [3] must have the shapes [rows, columns] and [rows]"),
        (np.ones([3, 2]), np.ones(2), None, "features [3, 2] and labels [2] must have the shapes"),
        (np.ones([3, 1]), np.ones(3), None, "2 column names for 1 columns"),
        (np.array([[1, 2], [3, np.nan]]), np.ones(2), None, "row 1, column 'b': nan is not a finite number of float32"),
        (np.ones([3, 2]), np.array([0, np.inf, 0]), None, "row 1: the label inf is not a finite number"),
        (np.array([[1, 2], [-1e300, 3]]), np.ones(2), None, "row 1, column 'a': -1e+300 is not a finite number of float32"),
        (np.ones([3, 2]), np.array([0, 1, 5]), 5, "row 2: the label 5 is not one of the 5 classes 0 to 4"),
        (np.ones([3, 2]), np.array([-1, 1, 3]), 5, "row 0: the label -1 is not one of the 5 classes 0 to 4"),
        (np.ones([3, 2]), np.array(["x", "y", "x"]), 2, "labels must be a NumPy array of numbers, not one of <U1"),
        ([[1.0, 2.0]], np.ones(1), None, "features must be a NumPy array of numbers, not a list"),
    ],
)
def test_a_table_of_ones_own_is_checked(features: Any, labels: np.ndarray, classes: int | None, message: str) -> None:
    with pytest.raises(ExperimentError) as raised:
        prepare(Given(table=Table(features, labels, ("a", "b"), classes, "mine"), **SPLIT))
    assert message in str(raised.value)
    assert "mine" in str(raised.value)


def test_classes_of_ones_own_have_a_name_each() -> None:
    table = Table(np.ones([3, 1]), np.array([0, 1, 2]), ("a",), 3, "mine", class_names=("red", "green"))
    with pytest.raises(ExperimentError, match="mine: 2 class names for 3 classes"):
        prepare(Given(table=table, **SPLIT))


def test_a_source_gives_a_table() -> None:
    with pytest.raises(ExperimentError, match=r"^Given\.read gave NoneType: it must give a Table$"):
        prepare(Given(**SPLIT))
