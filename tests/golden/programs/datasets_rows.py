"""tf.data of rows of databases."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.datasets_elements import fetched
from tests.golden.programs.registry import Outcome, program

PEOPLE = "tests/golden/inputs/people.sqlite"


@program("issue 4.1: SqlDataset")
def rows(tf: Any) -> Outcome:
    query = "select number, height, name, picture from people where number is not 1 order by height;"
    data = tf.data.experimental.SqlDataset("sqlite", PEOPLE, query, (tf.int32, tf.float64, tf.string, tf.string))
    return fetched(tf, data, 4, shapes=str(tf.data.get_output_shapes(data)))


@program("issue 4.1: SqlDataset of other types than the columns'")
def other_types(tf: Any) -> Outcome:
    types = (tf.int8, tf.uint16, tf.bool, tf.string, tf.int64, tf.int16, tf.float64, tf.string)
    query = "select number, number, number, number, height, name, name, height from people"
    return fetched(tf, tf.data.experimental.SqlDataset("sqlite", PEOPLE, query, types).batch(2), 3)
