"""What is converted, what is not, and what a converted function is like."""

import builtins
import functools
import logging
import traceback
from typing import Any

import pytest

import tfexp as tf
from tfexp.autograph import convert
from tfexp.autograph.builtin_functions import overload
from tfexp.autograph.source import ConversionError

Feature = tf.autograph.experimental.Feature


def _run(function: Any, *values: int) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        placeholders = [tf.placeholder(tf.int32, []) for _ in values]
        result = function(*placeholders)
        return session.run(result, dict(zip(placeholders, values, strict=True))).tolist()


def _sign(x: Any) -> Any:
    if x > 0:
        return 1
    return -1


def _of_sign(x: Any) -> Any:
    return _sign(x) * 7


class _Signs:
    def __init__(self, scale: int):
        self.scale = scale

    def of(self, x: Any) -> Any:
        return self.scale if x > 0 else -self.scale

    def __call__(self, x: Any) -> Any:
        return self.of(x)


@pytest.mark.parametrize(
    "function",
    [_sign, _of_sign, lambda x: 5 if x > 2 else 3, _Signs(3).of, _Signs(3), functools.partial(_Signs.of, _Signs(2))],
)
def test_functions_of_the_program_are_converted(function: Any) -> None:
    assert [_run(convert(function), x) for x in (4, -4)] == [function(4), function(-4)]


def test_lambdas_of_one_line_are_told_apart() -> None:
    functions = [(lambda x: 1 if x > 0 else 2), (lambda x: 3 if x > 0 else 4), (lambda x: (lambda y: 5 if y > 0 else 6)(x))]
    assert [_run(convert(function), 1) for function in functions] == [1, 3, 5]
    assert [_run(convert(function), -1) for function in functions] == [2, 4, 6]


def test_what_has_nothing_to_convert_comes_back_itself() -> None:
    def plain(x: int) -> int:
        return x + 1

    for function in (plain, len, int, _Signs, tf.add, tf.nn.relu, functools.reduce, None, 3):
        assert convert(function) is function


def test_what_is_converted_is_not_converted_again() -> None:
    once = convert(_sign)
    assert convert(once) is once


def test_a_converted_function_is_like_the_original() -> None:
    def original(a: int, b: int = 3, *, c: int = 4) -> int:
        """Of three numbers."""
        return a if a > b else c

    original.mark = "kept"  # type: ignore[attr-defined]
    made = convert(original)
    assert (made.__name__, made.__qualname__, made.__doc__) == ("original", original.__qualname__, "Of three numbers.")
    assert (made.__module__, made.mark, made.__defaults__, made.__kwdefaults__) == (__name__, "kept", (3,), {"c": 4})
    assert made(1) == 4


def test_variables_of_functions_around_stay_theirs() -> None:
    count = 0

    def counts(x: Any) -> Any:
        nonlocal count
        count += 1
        return count if x > 0 else 0

    made = convert(counts)
    assert made(5) == 1
    count = 10
    assert made(5) == 11
    assert count == 11


def test_frames_are_at_the_lines_of_the_program() -> None:
    def fails(x: Any) -> Any:
        for i in range(3):
            if i == 2:
                raise KeyError(i)  # here
        return x

    with pytest.raises(KeyError) as caught:
        convert(fails)(1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (__file__, "raise KeyError(i)  # here")


def test_tracebacks_through_the_graphs_loops_and_branches_are_the_programs() -> None:
    def fails(x: Any) -> Any:
        for i in tf.range(x):
            if i > 2:
                x = tf.reshape(i, [2])  # here
        return x

    with tf.Graph().as_default(), pytest.raises(ValueError, match="Cannot reshape") as caught:
        convert(fails)(tf.placeholder(tf.int32, []))
    frames = traceback.extract_tb(caught.value.__traceback__)
    begin = next(i for i, frame in enumerate(frames) if frame.name == "fails")
    own = [frame for frame in frames[begin:] if frame.filename == __file__]
    assert [frame.line for frame in own] == ["for i in tf.range(x):", "if i > 2:", "x = tf.reshape(i, [2])  # here"]
    between = frames[begin : frames.index(own[-1])]
    assert [frame.name for frame in between if frame.filename != __file__] == ["shown"]


def test_nodes_know_the_lines_of_the_program() -> None:
    def product(x: Any) -> Any:
        if x > 0:
            x = tf.multiply(x, 3, name="here")
        return x

    with tf.Graph().as_default() as graph:
        convert(product)(tf.placeholder(tf.int32, []))
        assert graph.get_operation_by_name("cond/here").origin == f"{__file__}:{product.__code__.co_firstlineno + 2}"


# --- what is left alone --------------------------------------------------------------------------------------------------


def test_do_not_convert() -> None:
    @tf.autograph.experimental.do_not_convert
    def asks(x: Any) -> Any:
        return 1 if x is not None else 2

    @tf.autograph.experimental.do_not_convert()
    def decides(x: Any) -> Any:
        return 1 if x > 0 else 2

    def calls(x: Any) -> Any:
        return asks(x) if x > 0 else x

    assert convert(asks) is asks
    assert _run(convert(calls), 3) == 1
    with pytest.raises(TypeError, match="as a Python `bool`"):
        _run(convert(lambda x: decides(x)), 3)


def test_wrappers_that_tfexp_makes_are_its_own() -> None:
    @tf.custom_gradient
    def twice(x: Any) -> Any:
        return x * 2, lambda grad: grad

    assert convert(twice) is twice


def test_functions_without_source_run_as_they_are_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    names: dict[str, Any] = {}
    exec("def hidden(x):\n    return 1 if x > 0 else 2\ndef calls(x):\n    return abs(x)", names)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.get_logger().propagate = True
        for _ in range(2):
            assert convert(names["hidden"]) is names["hidden"]
        assert convert(names["calls"]) is names["calls"]  # which makes no difference
    assert len(caplog.records) == 1
    assert "could not transform <function hidden" in caplog.text
    assert "there is no source code for '<string>'" in caplog.text
    with pytest.raises(ConversionError, match=r"converting <function hidden.*no source code"):
        tf.autograph.to_graph(names["hidden"])


def test_generators_and_coroutines_are_not_converted() -> None:
    def numbers(x: Any) -> Any:
        yield 1 if x else 2

    with pytest.raises(ConversionError, match="generators and coroutines are not supported"):
        tf.autograph.to_graph(numbers)


def test_generators_in_a_converted_function_stay_generators() -> None:
    def outer(x: Any) -> Any:
        def numbers(n: int) -> Any:
            for i in range(n):
                if i:
                    yield i

        if x > 0:
            x = x + sum(numbers(4))
        return x

    assert [_run(convert(outer), 1), _run(convert(outer), -1)] == [7, -1]


def test_functions_that_look_for_their_variables_are_not_converted() -> None:
    def looks(x: Any) -> Any:
        if x > 0:
            return sorted(locals())
        return eval("x")

    assert convert(looks) is looks
    with pytest.raises(ConversionError, match=r"line \d+: `locals\(\)` sees the variables of the function as it stands"):
        tf.autograph.to_graph(looks)


@pytest.mark.parametrize("entity", [None, 3, len, _Signs(1)])
def test_to_graph_takes_functions(entity: Any) -> None:
    with pytest.raises(NotImplementedError, match="a Python function is required"):
        tf.autograph.to_graph(entity)


def test_to_graph_of_that_function_only() -> None:
    assert _run(tf.autograph.to_graph(_of_sign), 3) == 7
    with pytest.raises(TypeError, match="as a Python `bool`"):
        _run(tf.autograph.to_graph(_of_sign, recursive=False), 3)


# --- features --------------------------------------------------------------------------------------------------------------


def test_equality_by_value_is_a_feature() -> None:
    def is_three(x: Any) -> Any:
        if x == 3 or (x > 8 and x != 9):
            return 1
        return 2

    with tf.Graph().as_default():
        assert tf.autograph.to_graph(lambda x: (x == 3, x != 3))(tf.constant(3)) == (False, True)
    by_value = tf.autograph.to_graph(is_three, experimental_optional_features=Feature.EQUALITY_OPERATORS)
    assert [_run(by_value, x) for x in (3, 4, 9, 10)] == [1, 2, 2, 1]
    assert by_value(3) == 1


def test_print_is_an_op_by_a_feature(capfd: pytest.CaptureFixture[str]) -> None:
    def shows(x: Any) -> Any:
        print("x:", x, sep="~", end="!\n")
        return x

    shown = tf.autograph.to_graph(shows, experimental_optional_features=(Feature.BUILTIN_FUNCTIONS,))
    with tf.Graph().as_default() as graph, tf.Session() as session:
        shown(tf.constant(5))
        assert capfd.readouterr().out == ""
        shown(tf.constant([1.0, 2.0]))
        shown(tf.constant("é"))
        for op in graph.get_operations():
            if op.type == "EagerPyFunc":
                session.run(op)
        assert capfd.readouterr().out == "x:~5!\nx:~[1. 2.]!\nx:~é!\n"
        with pytest.raises(ValueError, match=r"invalid keyword arguments: \('color',\)"):
            overload(print, frozenset([Feature.BUILTIN_FUNCTIONS]))(tf.constant(5), color="red")
        tf.autograph.to_graph(shows)(3)
    assert capfd.readouterr().out == "x:~3!\n"


def test_print_may_be_another_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    builtin = builtins.print
    monkeypatch.setattr(builtins, "print", lambda *args: builtin("another library:", *args))
    shown = tf.autograph.to_graph(lambda x: print(x), experimental_optional_features=(Feature.BUILTIN_FUNCTIONS,))
    with tf.Graph().as_default() as graph:
        shown(tf.constant(5))
        assert graph.get_operations()[-1].type == "EagerPyFunc"


def test_name_scopes_are_a_feature() -> None:
    with tf.Graph().as_default():
        found = tf.autograph.to_graph(_of_sign, experimental_optional_features=Feature.NAME_SCOPES)(tf.constant(1))
    assert found.op.name == "fn_of_sign/mul"


def test_what_is_done_is_done_before_what_is_returned_by_a_feature() -> None:
    def adds(x: Any) -> Any:
        total = tf.get_variable("total", initializer=2.0, use_resource=True)
        total.assign_add(x)
        total.assign(total * 10.0)
        return x, "kept"

    with tf.Graph().as_default(), tf.Session() as session:
        x, kept = tf.autograph.to_graph(adds, experimental_optional_features=Feature.AUTO_CONTROL_DEPS)(tf.constant(3.0))
        session.run(tf.global_variables_initializer())
        assert session.run(x) == 3
        assert kept == "kept"
        assert session.run(tf.global_variables()) == [50]


def test_features_are_features() -> None:
    assert Feature.LISTS not in Feature.all_but(Feature.LISTS)
    assert Feature.ALL not in Feature.all_but([])
    assert set(Feature.all()) == set(Feature)
    with pytest.raises(TypeError, match="Feature is required, got 'LISTS'"):
        tf.autograph.to_graph(_sign, experimental_optional_features=["LISTS"])  # type: ignore[list-item]


# --- looking at it ------------------------------------------------------------------------------------------------------


def test_to_code_is_the_source_of_the_converted_function() -> None:
    text = tf.autograph.to_code(_sign, indentation=" ")
    assert text.startswith(
        "def _sign(x: Any):\n return__: 'shared'\n\n def if_body__():\n  nonlocal return__\n  return__ = 1\n"
    )
    assert "ag__.if_(x > 0, if_body__, else_body__, ('return__',), ())" in text


def test_verbosity(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from tfexp.autograph import verbosity

    monkeypatch.setattr(verbosity, "_level", None)
    monkeypatch.setattr(verbosity, "_also_to_stdout", False)
    monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "1")
    assert verbosity.verbosity() == 1
    tf.autograph.set_verbosity(3, alsologtostdout=True)
    convert(lambda x: 1 if x > 9 else 2)
    text = capsys.readouterr().out
    assert "AutoGraph converted <function" in text
    assert "ag__.if_exp(x > 9, lambda: 1, lambda: 2)" in text
    tf.autograph.trace(1, "a")
    assert capsys.readouterr().out == "1 a\n"


class _Scaled:
    def __init__(self, factor: int):
        self.factor = factor

    def until(self, x: Any) -> Any:
        while x < 10:
            x = x * self.factor
        return x

    @classmethod
    def sign(cls, x: Any) -> Any:
        return 1 if x > 0 else -1

    @staticmethod
    def limited(x: Any) -> Any:
        return 5 if x > 5 else x


class _Shifted(_Scaled):
    def until(self, x: Any) -> Any:
        return super().until(x) + (1 if x > 2 else 2)


def test_classes_and_methods_on_request() -> None:
    made = tf.autograph.to_graph(_Scaled)
    assert made.__name__ == "Tf_Scaled"
    assert _run(made(3).until, 2) == 18 and _run(made.sign, -4) == -1 and _run(made(3).limited, 7) == 5
    assert _run(tf.autograph.to_graph(_Shifted)(2).until, 3) == 13
    # Methods are functions of their class, as in TensorFlow.
    until = tf.autograph.to_graph(_Scaled(3).until)
    assert _run(lambda x: until(_Scaled(2), x), 3) == 12
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        until(3)
