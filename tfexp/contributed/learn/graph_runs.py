"""Running parts of a graph in a session of their own. Source: `tf.contrib.learn.{run_n,run_feeds,infer}`, TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from tfexp.graph.scopes import graph_of
from tfexp.ops.variable_lists import global_variables_initializer, local_variables_initializer, tables_initializer
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.queue_runner import start_queue_runners
from tfexp.train.saver import Saver


def run_feeds(
    output_dict: Mapping[str, Any], feed_dicts: Iterable[Any], restore_checkpoint_path: str | None = None
) -> list[dict[str, Any]]:
    """What the tensors are for each of the feeds, one after another; ValueError without tensors or feeds.

    Variables begin as they were saved, or as they are initialised.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    with graph_of(output_dict.values()).as_default(), Session() as session:
        if restore_checkpoint_path:
            Saver(allow_empty=True).restore(session, restore_checkpoint_path)
        else:
            session.run(global_variables_initializer())
        session.run([local_variables_initializer(), tables_initializer()])
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        try:
            return [session.run(dict(output_dict), feeds) for feeds in feed_dicts]
        finally:
            coordinator.request_stop()
            coordinator.join(threads)


def run_n(
    output_dict: Mapping[str, Any], feed_dict: Any = None, restore_checkpoint_path: str | None = None, n: int = 1
) -> list[dict[str, Any]]:
    """The same `n` times with the same feed."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path: str, output_dict: Mapping[str, Any], feed_dict: Any = None) -> dict[str, Any]:
    """The same once, with the variables of a checkpoint."""
    return run_n(output_dict, feed_dict, restore_checkpoint_path)[0]
