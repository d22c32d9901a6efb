"""`dataset_serialization_test_base`: tests that a data set goes on where its iterator was saved. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tfexp.core import errors
from tfexp.core.dtypes import variant
from tfexp.data.iterator import make_initializable_iterator
from tfexp.data.transformations import make_saveable_from_iterator
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import add_to_collection
from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.ops.variable_lists import global_variables_initializer, tables_initializer
from tfexp.ragged_tensors.value import RaggedTensorValue
from tfexp.runtime.session import Session
from tfexp.stand_ins.dataset_tests import DatasetTestBase
from tfexp.train.saver import Saver

Build = Callable[[], Any]  # makes the data set, in the default graph


def remove_variants(get_next_op: Any) -> Any:
    """The element without what cannot be fetched: data sets and other variants become ()."""
    if isinstance(get_next_op, dict):
        return {key: remove_variants(value) for key, value in get_next_op.items()}
    if isinstance(get_next_op, tuple):
        return tuple(remove_variants(value) for value in get_next_op)
    return () if getattr(get_next_op, "dtype", variant) == variant else get_next_op


class DatasetSerializationTestBase(DatasetTestBase):
    """`ds_fn` makes the same data set each time; `num_outputs`: how many elements it has.

    With `verify_exhausted` nothing may come after them.
    """

    def run_core_tests(self, ds_fn: Build, num_outputs: int, sparse_tensors: bool = False) -> None:
        """Whatever is saved is found again."""
        self.verify_unused_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_fully_used_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_exhausted_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_multiple_breaks(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_reset_restored_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)

    def verify_unused_iterator(
        self, ds_fn: Build, num_outputs: int, sparse_tensors: bool = False, verify_exhausted: bool = True
    ) -> None:
        self.verify_run_with_breaks(ds_fn, [0], num_outputs, sparse_tensors, verify_exhausted)

    def verify_fully_used_iterator(self, ds_fn: Build, num_outputs: int, sparse_tensors: bool = False) -> None:
        self.verify_run_with_breaks(ds_fn, [num_outputs], num_outputs, sparse_tensors)

    def verify_exhausted_iterator(self, ds_fn: Build, num_outputs: int, sparse_tensors: bool = False) -> None:
        """An iterator that was saved at its end is there again."""
        self.gen_outputs(ds_fn, [], num_outputs, verify_exhausted=True, sparse_tensors=sparse_tensors)
        left = self.gen_outputs(ds_fn, [], 0, ckpt_saved=True, verify_exhausted=True, sparse_tensors=sparse_tensors)
        assert left == []

    def verify_multiple_breaks(
        self,
        ds_fn: Build,
        num_outputs: int,
        num_breaks: int = 10,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        points = self.gen_break_points(num_outputs, num_breaks)
        self.verify_run_with_breaks(ds_fn, points, num_outputs, sparse_tensors, verify_exhausted)

    def verify_reset_restored_iterator(
        self,
        ds_fn: Build,
        num_outputs: int,
        break_point: int | None = None,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """An iterator that was restored can be initialized again: it begins at the beginning."""
        break_point = num_outputs // 2 if break_point is None else break_point
        expected = self.gen_outputs(ds_fn, [], num_outputs, sparse_tensors=sparse_tensors, verify_exhausted=verify_exhausted)
        self.gen_outputs(ds_fn, [], break_point, sparse_tensors=sparse_tensors, verify_exhausted=False)
        with Graph().as_default() as graph:
            init_op, get_next_op, saver = self._build_graph(ds_fn, sparse_tensors)
            with self.session(graph=graph) as session:
                self._restored(session, saver, init_op)
                self._initialize(init_op, session)
                found = [session.run(get_next_op) for _ in range(num_outputs)]
                if verify_exhausted:
                    self._verify_exhausted(session, get_next_op)
        self.match(expected, found)

    def verify_error_on_save(
        self, ds_fn: Build, num_outputs: int, error: Any, break_point: int | None = None, sparse_tensors: bool = False
    ) -> None:
        """Saving it is refused with that error."""
        break_point = num_outputs // 2 if break_point is None else break_point
        with Graph().as_default() as graph:
            init_op, get_next_op, saver = self._build_graph(ds_fn, sparse_tensors)
            with self.session(graph=graph) as session:
                self._initialize(init_op, session)
                for _ in range(break_point):
                    session.run(get_next_op)
                with pytest.raises(error):
                    self._save(session, saver)

    def verify_run_with_breaks(
        self,
        ds_fn: Build,
        break_points: Sequence[int],
        num_outputs: int,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """A run that is saved, and restored in another session, at these elements, gives what a run in one piece gives."""
        expected = self.gen_outputs(ds_fn, [], num_outputs, False, sparse_tensors, verify_exhausted)
        found = self.gen_outputs(ds_fn, break_points, num_outputs, False, sparse_tensors, verify_exhausted)
        self.match(expected, found)

    def gen_outputs(
        self,
        ds_fn: Build,
        break_points: Sequence[int],
        num_outputs: int,
        ckpt_saved: bool = False,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
        save_checkpoint_at_end: bool = True,
    ) -> list[Any]:
        """The elements of a run that is saved and restored after so many; `ckpt_saved`: it begins where one was saved.

        An iterator is initialized before it is restored.
        """
        found: list[Any] = []
        for position, stop in enumerate([*break_points, num_outputs]):
            last = position == len(break_points)
            with Graph().as_default() as graph:
                init_op, get_next_op, saver = self._build_graph(ds_fn, sparse_tensors)
                with self.session(graph=graph) as session:
                    if ckpt_saved:
                        self._restored(session, saver, init_op)
                    else:
                        self._initialize(init_op, session)
                    found += [session.run(get_next_op) for _ in range(stop - len(found))]
                    if last and verify_exhausted:
                        self._verify_exhausted(session, get_next_op)
                    if not last or save_checkpoint_at_end:
                        self._save(session, saver)
                        ckpt_saved = True
        return found

    def gen_break_points(self, num_outputs: int, num_samples: int = 10) -> Any:
        """Some numbers of elements, in order."""
        return np.unique(np.linspace(0, num_outputs, num_samples, dtype=int))

    # --- elements ------------------------------------------------------------------------------------------------

    def match(self, expected: Any, actual: Any) -> None:
        """Both are the same: structures of arrays, of sparse and of ragged values."""
        if isinstance(expected, dict):
            assert set(expected) == set(actual)
            for key in expected:
                self.match(expected[key], actual[key])
        elif isinstance(expected, SparseTensorValue) or not isinstance(expected, (list, tuple)):
            if isinstance(expected, RaggedTensorValue):
                assert expected.to_list() == actual.to_list()
            else:
                self.assertValuesEqual(expected, actual)
        else:
            assert len(expected) == len(actual)
            for one, other in zip(expected, actual, strict=True):
                self.match(one, other)

    def does_not_match(self, expected: Any, actual: Any) -> None:
        with pytest.raises(AssertionError):
            self.match(expected, actual)

    def _verify_exhausted(self, session: Session, get_next_op: Any) -> None:
        with pytest.raises(errors.OutOfRangeError):
            session.run(get_next_op)

    # --- graphs and files ----------------------------------------------------------------------------------------

    def _build_graph(self, ds_fn: Build, sparse_tensors: bool = False) -> tuple[Any, Any, Saver]:
        """(the iterator's initializer, its next element, what saves it)."""
        iterator = make_initializable_iterator(ds_fn())
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, make_saveable_from_iterator(iterator))
        return iterator.initializer, remove_variants(iterator.get_next()), Saver(allow_empty=True)

    def _initialize(self, init_op: Any, sess: Session) -> None:
        with sess.graph.as_default():
            first = global_variables_initializer(), tables_initializer()
        sess.run(first)
        sess.run(init_op)

    def _restored(self, session: Session, saver: Saver, init_op: Any) -> None:
        self._initialize(init_op, session)
        self._restore(saver, session)

    def _save(self, sess: Session, saver: Saver) -> None:
        saver.save(sess, self._ckpt_path(), write_meta_graph=False)

    def _restore(self, saver: Saver, sess: Session) -> None:
        saver.restore(sess, self._ckpt_path())

    def _ckpt_path(self) -> str:
        return os.path.join(self.get_temp_dir(), "iterator")
