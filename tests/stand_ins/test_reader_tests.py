"""Files that TensorFlow's own tests of readers read, and what they expect of them."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.reader_tests import (
    FixedLengthRecordDatasetTestBase,
    MakeBatchedFeaturesDatasetTestBase,
    TextLineDatasetTestBase,
    TFRecordDatasetTestBase,
)

make_tf_record_dataset = stand_for("tensorflow.python.data.experimental.ops.readers").make_tf_record_dataset
test_util = stand_for("tensorflow.python.framework.test_util")


class TestFixedLengths(FixedLengthRecordDatasetTestBase):
    def test_files(self):
        files = self._createFiles()
        with open(files[1], "rb") as file:
            assert file.read() == b"HHHHH222333444555666777888FF"
        data = tf.data.FixedLengthRecordDataset(files, self._record_bytes, self._header_bytes, self._footer_bytes)
        self.assertDatasetProduces(data, [self._record(f, r) for f in range(2) for r in range(7)])


class TestLines(TextLineDatasetTestBase):
    def test_files(self):
        for kind, settings in ((None, {}), (None, {"crlf": True}), ("GZIP", {}), ("ZLIB", {})):
            files = self._createFiles(2, 3, compression_type=kind, **settings)
            data = tf.data.TextLineDataset(files, compression_type=kind)
            self.assertDatasetProduces(data, [b"0: 0", b"0: 1", b"0: 2", b"1: 0", b"1: 1", b"1: 2"])
        with pytest.raises(ValueError, match="Unsupported compression_type"):
            self._createFiles(1, 1, compression_type="LZ")


@test_util.run_all_in_graph_and_eager_modes
class TestRecords(TFRecordDatasetTestBase):
    def test_batches(self):
        for parser, drop in ((None, False), (lambda record: tf.strings.substr(record, 1, 99), True)):
            outputs = self.getNext(
                make_tf_record_dataset(
                    self.test_filenames,
                    4,
                    parser,
                    num_epochs=2,
                    shuffle=False,
                    num_parallel_reads=2,
                    num_parallel_parser_calls=2,
                    drop_final_batch=drop,
                )
            )
            self._verify_records(outputs, 4, None, 2, 2, drop, parser is not None)

    def test_shuffled(self):
        outputs = self.getNext(make_tf_record_dataset(self.test_filenames, 14, shuffle_seed=3, prefetch_buffer_size=0))
        first, second = self.evaluate(outputs()).tolist(), self.evaluate(outputs()).tolist()
        assert first != second
        assert sorted(first) == sorted(second) == sorted(*self._next_expected_batch([0, 1], 14, 1, 1, True, False))

    def test_interleaved(self):
        assert list(self._interleave([iter([1, 2, 3]), iter([4, 5]), iter([6])], 2)) == [1, 4, 2, 5, 3, 6]


@test_util.run_all_in_graph_and_eager_modes
class TestFeatures(MakeBatchedFeaturesDatasetTestBase):
    def test_batches(self):
        self.outputs = self.getNext(self.make_batch_feature(self.test_filenames[1], 3, 2))
        self.verify_records(2, 1, num_epochs=3)
        self.outputs = self.getNext(
            self.make_batch_feature(self.test_filenames, 2, 3, label_key="label", reader_num_threads=2)
        )
        self.verify_records(3, num_epochs=2, label_key_provided=True, interleave_cycle_length=2)
        with pytest.raises(tf.errors.OutOfRangeError):
            self._next_actual_batch(label_key_provided=True)
        assert [self._sum_keywords(n) for n in (1, 2)] == [10, 21]
