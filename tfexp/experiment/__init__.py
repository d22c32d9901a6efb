"""The experiment runner: a configuration becomes a graph, a run, a folder.

`cli` composes `conf/` with the command line (Hydra) and turns the result into `schema.Settings`; from there
on there are only frozen dataclasses. `build` makes the graph, `runner` trains it, `outputs` owns the folder.
"""
