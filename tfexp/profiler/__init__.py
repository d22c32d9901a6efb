"""What a graph costs, from its shapes and from traced steps: parameters, float operations, time, memory. `tf.profiler`.

A profile is made in four steps, each in its file:

    nodes     the graph's nodes with what is known of each, and what traced steps (`RunMetadata`) measured
    views     rows of a tree: by name scope, by data flow, by line of the program; and a list by op type
    display   which rows are shown, in which order, and what they add up to (`options` says how)
    report    the rows as text; protos, pprof and traces have files of their own

The reports have TensorFlow's layout, row for row (`tests/profiler/golden`, recorded from TensorFlow).
"""
