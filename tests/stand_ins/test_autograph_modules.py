"""What converted code would call in TensorFlow, called by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def module(name: str) -> Any:
    return stand_for(f"tensorflow.python.autograph.{name}")


@pytest.fixture(autouse=True, name="run")
def _run() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session.run


def test_logic(run):
    logical = module("operators.logical")
    assert logical.and_(lambda: False, lambda: 1 / 0) is False
    assert run(logical.and_(lambda: tf.constant(True), lambda: True)) and not run(logical.not_(tf.constant(True)))
    assert run(logical.not_eq(tf.constant([1, 2]), 1)).tolist() == [False, True] and logical.eq(1, 1)


def test_assertions(run):
    assert_stmt = module("operators.exceptions").assert_stmt
    assert assert_stmt(True, lambda: "") is None
    with pytest.raises(AssertionError, match="text"):
        assert_stmt(False, lambda: "text")
    with pytest.raises(ValueError, match="may not have any arguments"):
        assert_stmt(True, lambda a: "")
    with pytest.raises(tf.errors.InvalidArgumentError, match="text"):
        run(assert_stmt(tf.constant(False), lambda: tf.constant("text")))


def test_builtins(run):
    of = module("operators.py_builtins")
    assert [of.abs_(-1), of.float_("10.5"), of.int_("11", 2), of.len_([1, 2]), list(of.range_(2))] == [1, 10.5, 3, 2, [0, 1]]
    assert run([of.int_(tf.constant("3")), of.float_(tf.constant(1)), of.len_(tf.TensorArray(tf.int32, 7))]) == [3, 1.0, 7]
    with pytest.raises(NotImplementedError, match="base"):
        of.int_(tf.constant("3"), 2)
    assert [of.overload_of(one) for one in (len, abs, range, str)] == [of.len_, of.abs_, of.range_, str]
    assert list(of.enumerate_([3], 1)) == [(1, 3)] and list(of.zip_([1], [2])) == [(1, 2)]
    numbers = tf.data.Dataset.range(2)
    assert isinstance(of.enumerate_(numbers), tf.data.Dataset) and isinstance(of.zip_(numbers, numbers), tf.data.Dataset)


def test_values_that_are_not_there():
    special = module("operators.special_values")
    assert special.is_undefined(special.Undefined("x")) and not special.is_undefined(3)
    assert special.retval(special.UndefinedReturnValue()) is None and special.retval(3) == 3


def test_lists(run):
    lists = module("operators.data_structures")
    made = lists.list_append(lists.tf_tensor_list_new([1, 2]), tf.constant(5))
    rest, last = lists.list_pop(made, None, lists.ListPopOpts(tf.int32, ()))
    stacked = lists.list_stack(rest, lists.ListStackOpts(tf.int32, None))
    assert run(stacked).tolist() == [1, 2] and run(last) == 5
    assert lists.list_pop([1, 2, 3], 0, lists.ListPopOpts(None, ())) == ([2, 3], 1)
    with pytest.raises(ValueError, match="does not support item removal"):
        lists.list_pop(tf.TensorArray(tf.int32, 1), None, lists.ListPopOpts(None, ()))
    assert lists.new_list([1, 2]) == [1, 2] and lists.new_list().dtype is tf.variant
    array = lists.list_append(lists.tf_tensor_array_new([1, 2]), 7)
    assert run(lists.list_stack(array, None)).tolist() == [1, 2, 7]
    with pytest.raises(ValueError, match="dtype=tf"):
        lists.list_append(tf.constant(1), 2)


def test_lists_are_of_what_they_are_said_to_be(run):
    lists = module("operators.data_structures")
    ints = [tf.constant(3), tf.constant(5)]
    stacked = lists.ListStackOpts(tf.int32, None)
    assert run(lists.list_stack(lists.tf_tensor_list_new(tf.constant([3, 5])), stacked)).tolist() == [3, 5]
    assert run(lists.list_stack(lists.list_append(lists.new_list(), [2, 3]), stacked)).tolist() == [[2, 3]]
    assert lists.tf_tensor_list_new([3, [4, 5]]).dtype == tf.variant
    for make in (lists.tf_tensor_list_new, lists.tf_tensor_array_new):
        with pytest.raises(ValueError, match=r"incompatible dtype; specified: tf\.float32"):
            make(ints, element_dtype=tf.float32)
        with pytest.raises(ValueError, match=r"incompatible shape; specified: \(2,\)"):
            make(ints, element_shape=(2,))
    with pytest.raises(ValueError, match="may not be specified when creating list from tensor"):
        lists.tf_tensor_list_new(tf.constant([3, 5]), element_shape=())
    for unlike in ([3, 4.0], [3, [4, 5]]):
        with pytest.raises(ValueError, match="TensorArray requires all elements to have the same"):
            lists.tf_tensor_array_new(unlike)


def test_functions_have_scopes(run):
    converter, wrappers = module("core.converter"), module("core.function_wrappers")
    status, feature = module("core.ag_ctx"), tf.autograph.experimental.Feature
    v = tf.Variable(1.0, use_resource=True)
    run(v.initializer)
    with wrappers.FunctionScope("_f", "scope", converter.ConversionOptions(user_requested=True)) as scope:
        assert status.control_status_ctx().status is status.Status.ENABLED and scope.name == "scope"
        v.assign_add(1.0)
        given = scope.mark_return_value({"a": tf.constant(5.0), "b": None})
    assert status.control_status_ctx().status is status.Status.UNSPECIFIED
    assert given["a"].op.name.startswith("fn_f/") and given["b"] is None and run([given["a"], v])[0] == 5 and run(v) == 2
    options = converter.ConversionOptions(optional_features=feature.NAME_SCOPES)
    plain = wrappers.with_function_scope(lambda scope: scope.mark_return_value(tf.constant(1.0, name="c")), "s", options)
    assert plain.op.name == "lambda_/c" and plain.op.type == "Const"


def test_stacking(run):
    special = module("lang.special_functions")
    assert run(special.stack(special.tensor_list([1, 2]), element_dtype=tf.int32)).tolist() == [1, 2]
    assert run(special.tensor_list([1, 2], use_tensor_array=True).stack()).tolist() == [1, 2]
    assert special.stack(1, strict=False) == 1
    with pytest.raises(ValueError, match="must be stackable when strict=True"):
        special.stack(1)
    with pytest.raises(ValueError, match="without knowing its element type"):
        special.stack(special.tensor_list([1]))
    assert special.match_staging_level(1, 2) == 1 and run(special.match_staging_level(1, tf.constant(2))) == 1


def test_items(run):
    slices, lists = module("operators.slices"), module("operators.data_structures")
    opts = slices.GetItemOpts(tf.int32)
    targets = [tf.constant([1, 2]), tf.constant("abc"), lists.tf_tensor_list_new([1, 3])]
    assert run([slices.get_item(target, 1, opts) for target in targets]) == [2, b"b", 3]
    assert slices.set_item([1, 2], 0, 5) == [5, 2]
    before = tf.constant([1, 2])
    assert run(slices.set_item(before, 0, 5)).tolist() == [5, 2] and run(before).tolist() == [1, 2]


def test_kinds_of_tensors(run):
    tensors, misc = module("utils.tensors"), module("utils.misc")
    assert tensors.is_dense_tensor(tf.constant(1)) and tensors.is_tensor_array(tf.TensorArray(tf.int32, 1))
    assert tensors.is_range_tensor(tf.range(3)) and not tensors.is_tensor_list(tf.constant(1))
    assert module("utils.type_check").is_tensor(1, tf.constant(1)) and not module("utils.type_check").is_tensor(1)
    one, two = misc.alias_tensors(tf.constant(1), 2)
    assert one.op.type == "Identity" and two == 2 and misc.alias_tensors(3) == 3
    lengths = [misc.get_range_len(1, 7, 2), misc.get_range_len(1, 8, 2), misc.get_range_len(3, 1, 1)]
    assert run(lengths) == [3, 4, 0] and misc.capitalize_initial("abc") == "Abc"


def test_python_functions_in_graphs(run):
    of = module("utils.py_func")
    assert run(of.wrap_py_func(lambda a, b: a * b, tf.int64, (tf.constant(2, tf.int64), 3))) == 6
    assert run(of.wrap_py_func(lambda a, k: a * k, of.MatchDType(0), (tf.constant(2.0),), {"k": 3})) == 6.0
    seen: list[Any] = []
    assert run(of.wrap_py_func(lambda k: seen.append(int(k)), None, (), {"k": tf.constant(5)}, True)) == 1 and seen == [5]
    with pytest.raises(ValueError, match="return_dtypes must be empty"):
        of.wrap_py_func(lambda: 1, tf.int64, (), use_dummy_return=True)


def test_calls_are_converted_as_options_say(run):
    api, converter = module("impl.api"), module("core.converter")

    def magnitude(x):
        return x if x > 0 else -x

    def through(x):
        return magnitude(x)

    options = converter.ConversionOptions(recursive=True)
    assert run(api.converted_call(through, options, (tf.constant(-3),), None)) == 3
    assert run(api.converted_call(len, options, (tf.placeholder_with_default([1, 2], [None]),), {})) == 2
    assert api.converted_call(through, options, (), {"x": -2}) == 2 and options.uses(converter.Feature.LISTS)
    converted = api.convert(recursive=True)(through)
    assert run(converted(tf.constant(-5))) == 5 and converted.__name__ == "through"
    status = module("core.ag_ctx").Status
    enabled, disabled = (module("core.ag_ctx").ControlStatusCtx(one) for one in (status.ENABLED, status.DISABLED))
    assert run(api.tf_convert(through, enabled)(tf.constant(-4))) == 4
    for alone in (api.convert()(through), api.tf_convert(through, disabled)):
        with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
            alone(tf.constant(-5))
