"""Functions of texts that give rows of different lengths: split, characters, n-grams. Source: `tf.strings`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops import array, array_join, string_split, unicode
from tfexp.ops.string_ngrams import ngrams_op
from tfexp.ragged_tensors.arrays import expand_dims
from tfexp.ragged_tensors.tensor import RaggedTensor, converted, of_rows


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string, as strings of one. Source: `tf.strings.bytes_split`."""
    with name_scope(name, "StringsByteSplit", [input]):
        return _by_rows(
            converted(input, dtypes.string), lambda texts: string_split.string_split(texts, "", skip_empty=False)
        )


def _by_rows(texts: Any, split: Any) -> Any:
    """What `split` of a vector, a SparseTensor, gives as ragged rows, for texts of any rank."""
    if isinstance(texts, RaggedTensor):
        return texts.with_flat_values(_by_rows(texts.flat_values, split))
    rank = texts.shape.rank
    if rank is None:
        raise ValueError("input must have a statically-known rank.")
    if rank == 0:
        return _by_rows(array_join.stack([texts]), split)[0]
    if rank > 1:
        return _by_rows(RaggedTensor.from_tensor(texts, ragged_rank=rank - 1), split)
    return _rows(split(texts))


def _rows(sparse: Any) -> RaggedTensor:
    return RaggedTensor.from_value_rowids(sparse.values, sparse.indices[:, 0], sparse.dense_shape[0], validate=False)


def split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """The parts of each string between separators (None or "": any white space), at most `maxsplit` + 1 of them.

    A SparseTensor, or with result_type="RaggedTensor" ragged rows (of one text: a vector). A text of unknown rank is taken
    for a vector. Source: `tf.strings.split`.
    """
    texts = input if source is None else source
    sparse = _wants_sparse(result_type)
    with name_scope(name, "StringSplit", [texts]) as scope:
        texts = converted(texts, dtypes.string)
        if not isinstance(texts, RaggedTensor) and texts.shape.rank in ((None, 0, 1) if sparse else (None, 1)):
            of_vector = string_split.strings_split(texts, sep, maxsplit, name=scope)
            return of_vector if sparse else _rows(of_vector)
        found = _by_rows(texts, lambda vector: string_split.strings_split(vector, sep, maxsplit))
        return found.to_sparse() if sparse else found


def string_split_v1(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """The parts of each string of a vector between the bytes of the delimiter (a blank). Source: `tf.string_split`.

    A SparseTensor, or with result_type="RaggedTensor" ragged rows.
    """
    sparse = _wants_sparse(result_type)
    with name_scope(name, "StringSplit", [source]) as scope:
        found = string_split.string_split(source, sep, skip_empty, delimiter, name=scope)
        return found if sparse else _rows(found)


def _wants_sparse(result_type: str) -> bool:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    return result_type == "SparseTensor"


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each text, int32, one dimension more. Source: `tf.strings.unicode_decode`."""
    with name_scope(name, "UnicodeDecode", [input]):
        options = _options(input_encoding, errors, replacement_char, replace_control_characters)
        return _decoded(converted(input, dtypes.string), options, with_offsets=False)[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(the code points, the byte at which each begins, int64). Source: `tf.strings.unicode_decode_with_offsets`."""
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        options = _options(input_encoding, errors, replacement_char, replace_control_characters)
        points, offsets = _decoded(converted(input, dtypes.string), options, with_offsets=True)
        return points, offsets


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> Any:
    """The characters of each text, as texts of one. Source: `tf.strings.unicode_split`."""
    with name_scope(name, "UnicodeSplit", [input]):
        points = unicode_decode(input, input_encoding, errors, replacement_char)
        return unicode_encode(expand_dims(points, -1), input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> tuple[Any, Any]:
    """(the characters, the byte at which each begins, int64). Source: `tf.strings.unicode_split_with_offsets`."""
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
        return unicode_encode(expand_dims(points, -1), input_encoding, errors, replacement_char), offsets


def _options(input_encoding: str, errors: str, replacement_char: int, replace_control_characters: bool) -> dict[str, Any]:
    return {
        "input_encoding": input_encoding,
        "errors": errors,
        "replacement_char": replacement_char,
        "replace_control_characters": replace_control_characters,
    }


def _decoded(texts: Any, options: dict[str, Any], with_offsets: bool) -> list[Any]:
    if isinstance(texts, RaggedTensor):
        return [texts.with_flat_values(found) for found in _decoded(texts.flat_values, options, with_offsets)]
    rank = texts.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        return _decoded(RaggedTensor.from_tensor(texts, ragged_rank=rank - 1), options, with_offsets)
    flat = array.reshape(texts, [-1])
    op = unicode.decode_with_offsets_op if with_offsets else unicode.decode_op
    splits, *found = op(flat, **options)
    return [values if rank == 0 else of_rows(values, splits) for values in found]


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The texts of rows of code points, one dimension less. Source: `tf.strings.unicode_encode`."""
    with name_scope(name, "UnicodeEncode", [input]):
        points = converted(input)
        options = {"output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char}
        return _encoded(points, options)


def _encoded(points: Any, options: dict[str, Any]) -> Any:
    rank = points.shape.rank
    if rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if isinstance(points, RaggedTensor):
        if points.flat_values.shape.rank != 1:
            flat: Any = points.flat_values
            inner = RaggedTensor.from_tensor(flat, ragged_rank=flat.shape.rank - 1)
            points = points.with_flat_values(inner)
        if points.ragged_rank > 1:
            return points.with_values(_encoded(points.values, options))
        return unicode.encode_op(points.values, points.row_splits, **options)
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if rank == 1:
        return array.reshape(_encoded(RaggedTensor.from_tensor(array_join.stack([points])), options), [])
    if rank == 2:
        return _encoded(RaggedTensor.from_tensor(points), options)
    shape: Any = array.shape(points)
    flat = array.reshape(points, array_join.concat([[-1], shape[-1:]], 0))
    return array.reshape(_encoded(flat, options), shape[:-1])


def ngrams(
    data: Any,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """The runs of `ngram_width` neighbours in each row, joined by `separator`. Source: `tf.strings.ngrams`.

    pad_values: what stands before and after each row, a text or (left, right), so often that every element is the first of
    a run, or `padding_width` times. With `preserve_short_sequences`, a row too short for a run is one itself.
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right, pads = "", "", 0
        if pad_values is not None:
            both = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
            if not isinstance(both, (list, tuple)) or not all(isinstance(pad, (str, bytes)) for pad in both):
                raise TypeError("pad_values must be a string, tuple of strings, or None.")
            left, right = both
            pads = -1
        if padding_width is not None:
            if padding_width < 1:
                raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
            if pad_values is None:
                raise ValueError("pad_values must be provided if padding_width is set.")
            pads = padding_width
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        texts: Any = data if isinstance(data, RaggedTensor) else convert_to_tensor(data, dtypes.string)
        rank, even = texts.shape.rank, not isinstance(texts, RaggedTensor)
        if rank is None:
            raise ValueError("Rank of data must be known.")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        if even:
            texts = RaggedTensor.from_tensor(expand_dims(texts, 0) if rank == 1 else texts, ragged_rank=max(rank - 1, 1))
        attrs = {
            "separator": separator,
            "ngram_widths": widths,
            "left_pad": left,
            "right_pad": right,
            "pad_width": pads,
            "preserve_short_sequences": preserve_short_sequences,
        }
        result = _ngrams(texts, attrs)
        return result if not even else result[0] if rank == 1 else result.to_tensor(default_value="")


def _ngrams(texts: RaggedTensor, attrs: dict[str, Any]) -> RaggedTensor:
    if isinstance(texts.values, RaggedTensor):
        return texts.with_values(_ngrams(texts.values, attrs))
    found, splits = ngrams_op(texts.values, texts.row_splits, **attrs)
    return of_rows(found, splits)
