"""Profiles under their older names."""

import tfexp as tf

analyzer = tf.contrib.tfprof.model_analyzer


def test_parameters_of_a_model_are_counted(capsys):
    with tf.Graph().as_default() as graph:
        tf.get_variable("w", [3, 5])
        tf.get_variable("state", [7], trainable=False)
        found = analyzer.print_model_analysis(graph, tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
        assert found.total_parameters == analyzer.print_model_analysis(graph).total_parameters == 15
    assert "w (3x5, 15/15 params)" in capsys.readouterr().out


def test_float_operations_of_a_model_are_counted(capsys):
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.ones([2, 3]), tf.ones([3, 5]))
        found = analyzer.print_model_analysis(graph, tfprof_options=analyzer.FLOAT_OPS_OPTIONS)
    assert found.total_float_ops == 2 * 2 * 3 * 5


def test_advice_is_given(capsys):
    with tf.Graph().as_default() as graph:
        assert set(analyzer.advise(graph).checkers) >= {"OperationChecker"}
