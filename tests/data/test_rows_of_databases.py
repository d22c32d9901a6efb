"""SqlDataset: what it refuses, and going on where an iterator was; tests/golden/programs/datasets_rows.py has its values."""

from __future__ import annotations

import sqlite3

import pytest

import tfexp as tf
from tests.data.running import elements, resumed
from tfexp.core.errors import InvalidArgumentError, UnknownError


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a # b%.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table numbers (n integer)")
        connection.executemany("insert into numbers values (?)", [(i,) for i in range(7)])
    connection.close()
    return str(path)


def rows(path, query="select n from numbers", types=(tf.int64,), driver="sqlite"):
    return tf.data.experimental.SqlDataset(driver, path, query, types)


def test_rows_come_in_the_querys_order(database):
    assert elements(rows(database, "select n from numbers where n > 3 order by n desc -- all of them")) == [(6,), (5,), (4,)]
    assert elements(rows(database, "select n from numbers where n > 9")) == []


def test_an_iterator_stays_at_its_end(database):
    element = tf.data.make_one_shot_iterator(rows(database, "select n from numbers where n > 9")).get_next()
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


def test_an_iterator_goes_on_where_it_was(database, tmp_path):
    assert resumed(lambda: rows(database), 3, tmp_path) == [[3], [4], [5], [6]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"driver": "mysql"}, InvalidArgumentError, "The database type, mysql, is not supported by SqlDataset"),
        ({"types": (tf.float32,)}, InvalidArgumentError, "must be one of: int8, int16, int32, int64, uint8, uint16, bool"),
        ({"types": (tf.int64, tf.int8)}, InvalidArgumentError, "The number of columns in query (1) must match"),
        ({"query": "select m from numbers"}, UnknownError, "Prepare() failed: no such column: m: select m from numbers"),
        ({"query": ""}, InvalidArgumentError, "The number of columns in query (0) must match"),
    ],
)
def test_what_cannot_be_read_is_said(database, arguments, error, message):
    with pytest.raises(error) as caught:
        elements(rows(database, **arguments))
    assert message in caught.value.message


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    missing = tmp_path / "missing.sqlite"
    with pytest.raises(InvalidArgumentError, match="unable to open database file"):
        elements(rows(str(missing)))
    assert not missing.exists()
