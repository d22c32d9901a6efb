"""Sessions and hooks that dump their steps, and those that ask for commands about them."""

import io
import os
import threading

import pytest

import tfexp as tf
from tfexp.debug.dump_dir import DebugDumpDir
from tfexp.debug.local import LocalCLIDebugHook, LocalCLIDebugWrapperSession
from tfexp.debug.sessions import DumpingDebugHook, DumpingDebugWrapperSession, WatchOptions
from tfexp.debug.watching import add_debug_tensor_watch


def dumps_in(path):
    return [DebugDumpDir(os.fspath(folder)) for folder in sorted(path.iterdir())]


def test_each_run_has_a_folder(tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, 1.0, name="y")
    with tf.Session() as inner, DumpingDebugWrapperSession(inner, os.fspath(tmp_path)) as session:
        assert session.run(y, {x: 1}) == 2 and y.eval({x: 2}) == 3 and session.make_callable(y, [x])(3) == 4
        assert session.run([]) == [] and session.graph is inner.graph and session.session is inner
    first, second, third = dumps_in(tmp_path)
    assert [d.get_tensors("y", 0, "DebugIdentity") for d in (first, second, third)] == [[2], [3], [4]]
    assert first.run_fetches_info == repr(y) and "x:0" in first.run_feed_keys_info and third.run_fetches_info == "None"


def test_sessions_of_keras_dump_too(tmp_path):
    x = tf.keras.backend.placeholder([None], name="x")
    double = tf.keras.backend.function([x], [tf.add(x, x, name="y")])
    before = tf.keras.backend.get_session()
    tf.keras.backend.set_session(DumpingDebugWrapperSession(before, os.fspath(tmp_path)))
    try:
        assert double([[1.5]])[0] == [3]
    finally:
        tf.keras.backend.set_session(before)
    assert dumps_in(tmp_path)[-1].get_tensors("y", 0, "DebugIdentity")[0].tolist() == [3]


def test_watch_functions_choose(tmp_path):
    y = tf.identity(tf.constant(1.0, name="x"), name="y")
    watch = lambda fetches, feeds: WatchOptions(debug_ops=["DebugNanCount"], node_name_regex_whitelist="y")  # noqa: E731
    DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path), watch).run(y)
    assert [datum.watch_key for datum in dumps_in(tmp_path)[0].dumped_tensor_data] == ["y:0:DebugNanCount"]


def test_only_runs_of_some_threads_are_watched(tmp_path):
    y = tf.constant(1.0)
    session = DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path), thread_name_filter="watched$")
    session.run(y)
    thread = threading.Thread(target=session.run, args=(y,), name="watched")
    thread.start()
    thread.join()
    assert len(dumps_in(tmp_path)) == 1


def test_what_failed_is_dumped_up_to_there(tmp_path):
    checked = tf.check_numerics(tf.log(tf.constant(-1.0), name="y"), "bad")
    session = DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path / "a"))
    assert isinstance(session.run(checked), tf.errors.InvalidArgumentError)
    assert len(dumps_in(tmp_path / "a")[0].get_tensors("y", 0, "DebugIdentity")) == 1
    passing = DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path / "b"), pass_through_operrors=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        passing.run(checked)


def test_wrong_arguments_of_sessions(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="points to a non-empty directory"):
        DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path))
    with pytest.raises(ValueError, match="points to a file"):
        DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path / "file"))
    with pytest.raises(TypeError, match="Expected type"):
        DumpingDebugWrapperSession(3, os.fspath(tmp_path / "new"))
    with pytest.raises(TypeError, match="watch_fn is not callable"):
        DumpingDebugWrapperSession(tf.Session(), os.fspath(tmp_path / "new"), watch_fn=3)
    with pytest.raises(ValueError, match="ui_type"):
        LocalCLIDebugWrapperSession(tf.Session(), ui_type="window")
    session = LocalCLIDebugWrapperSession(tf.Session())
    with pytest.raises(ValueError, match="cannot be empty"):
        session.add_tensor_filter("", len)
    with pytest.raises(TypeError, match="callable"):
        session.add_tensor_filter("a", 3)


def test_hooks_dump_the_steps_of_monitored_sessions(tmp_path):
    step = tf.train.get_or_create_global_step()
    update = tf.assign_add(step, 1, name="update")
    with tf.train.MonitoredSession(hooks=[DumpingDebugHook(os.fspath(tmp_path))]) as session:
        session.run(update)
        session.run(update)
    assert [dump.get_tensors("update", 0, "DebugIdentity") for dump in dumps_in(tmp_path)] == [[1], [2]]


@pytest.fixture
def commands(monkeypatch):
    """Sets the lines of standard input."""
    return lambda *lines: monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_commands_show_a_step(commands, capsys):
    x = tf.placeholder(tf.float32, [2], name="x")
    z = tf.log(x, name="z")
    commands("lt", "run", "lt -t Log", "pt z", "ni z -a -d -t", "lo _arg_x_0_0", "pt nothing", "what", "run -t x", "run -n")
    session = LocalCLIDebugWrapperSession(tf.Session(), ui_type="readline")
    session.run(z, {x: [1, 0]})
    shown = capsys.readouterr().out
    assert "lt: no such command here; there are: run, exit" in shown and "1 dumped tensor(s):\n" in shown
    assert 'Tensor "z:0:DebugIdentity":\n  dtype: float32\n  shape: (2,)\n[  0. -inf]\n' in shown
    assert "  Op: Log\n" in shown and "1 input(s): _arg_x_0_0" in shown and "  z:0:DebugIdentity (1 value(s))" in shown
    assert "in test_commands_show_a_step: z = tf.log" in shown and "1 recipient(s): z" in shown
    assert 'Watch key "nothing:0:DebugIdentity" does not exist' in shown and "what: no such command" in shown
    assert "argument -t: invalid int value: 'x'" in shown
    session.run(z, {x: [1, 0]})
    assert capsys.readouterr().out == ""


def test_commands_take_tensors_apart(commands, capsys):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    z = tf.log(x, name="z")
    commands(
        *(
            "run",
            "pt z[1, 1:]",
            "pt z:0 -s",
            "eval np.sum(np.exp(`z:0`)) + 0.5",
            "eval `z:0`.nothing",
            "eval `z`",
            "eval `z:0",
        ),
        *("eval `y:0`", "pt z[a]", "pt z[2]", "run -n"),
    )
    LocalCLIDebugWrapperSession(tf.Session(), ui_type="readline").run(z, {x: [[1, 0, 1], [1, 1, 1]]})
    shown = capsys.readouterr().out
    assert 'Tensor "z:0:DebugIdentity[1, 1:]":\n  dtype: float32\n  shape: (2,)\n[0. 0.]\n' in shown
    assert "| -inf    0 | total |\n|    1    5 |     6 |\n|  min  max mean  std |\n|  0.0  0.0  0.0  0.0 |\n" in shown
    assert "np.sum(np.exp(`z:0`)) + 0.5:\n  dtype: float32\n  shape: ()\n5.5\n" in shown
    for wrong in (
        "AttributeError: ",
        "ValueError: The debug tensor name",
        "SyntaxError: ",
        "ValueError: Eval failed due to",
    ):
        assert f"ERROR: {wrong}" in shown
    assert "ERROR: [a] is no part of a tensor" in shown and "ERROR: index 2 is out of bounds" in shown


def test_runs_go_on_until_a_filter_lets_something_through(tmp_path, commands, capsys):
    x = tf.placeholder(tf.float32, [], name="x")
    z = tf.log(x, name="z")
    commands("run -f nothing", "run -f low", "lt -f low", "run -t 2", "exit")
    session = LocalCLIDebugWrapperSession(tf.Session(), os.fspath(tmp_path))
    session.add_tensor_filter("low", lambda datum, value: datum.node_name == "z" and value < 0)
    for value in (3, 2, 1, 0.5, 0.25):
        session.run(z, {x: value})
    shown = capsys.readouterr().out
    assert "no tensor filter named 'nothing'; there are: has_inf_or_nan, low" in shown
    assert 'run #4 has values that pass filter "low"' in shown and '1 dumped tensor(s) passing filter "low":' in shown
    with pytest.raises(SystemExit):
        session.run(z, {x: 1})
    assert os.listdir(tmp_path) == []


def test_the_end_of_the_input_is_an_exit(commands):
    commands()
    with pytest.raises(SystemExit):
        LocalCLIDebugWrapperSession(tf.Session()).run(tf.constant(1.0))


def test_hooks_ask_about_the_steps_of_monitored_sessions(commands, capsys):
    commands("run -f any", "run -n")
    hook = LocalCLIDebugHook()
    hook.add_tensor_filter("any", lambda datum, value: True)
    y = tf.constant(1.0)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run([y, y]) == [1, 1]
    assert 'run #1 has values that pass filter "any"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (
            ["DebugIdentity", "DebugNanCount(a=1; b=2)"],
            r"2 attribute key\(s\) were not valid for debug node __dbg_c:0_1_DebugNanCount: a, b",
        ),
        (["DebugIdentity", "DebugNothing"], "debug op DebugNothing"),
    ],
)
def test_wrong_debug_ops_are_errors_unless_they_are_tolerated(tmp_path, ops, message):
    options = {}
    for tolerate in (False, True):
        options[tolerate] = tf.RunOptions()
        add_debug_tensor_watch(
            options[tolerate], "c", 0, ops, f"file://{tmp_path}", tolerate_debug_op_creation_failures=tolerate
        )
    with tf.Graph().as_default(), tf.Session() as session:
        c = tf.placeholder(tf.float32, [], name="c")
        doubled = c * 2
        with pytest.raises(tf.errors.FailedPreconditionError, match=message):
            session.run(doubled, {c: 1.0}, options[False])
        assert session.run(doubled, {c: 1.0}, options[True]) == 2
        options[True].debug_options.debug_tensor_watch_opts[0].debug_ops[:] = ["DebugNumericSummary(lower_bound)"]
        with pytest.raises(tf.errors.FailedPreconditionError, match="Malformed attributes"):
            session.run(doubled, {c: 1.0}, options[True])
