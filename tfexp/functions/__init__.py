"""`tf.function`: Python functions as graph functions, traced once for each kind of arguments.

`function` is what a program calls, `arguments` tells which calls share a trace, `trace` builds the graph, `lifting` takes
variables' initial values out of it, `concrete` is one trace as something to call.
"""
