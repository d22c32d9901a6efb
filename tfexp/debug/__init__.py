"""The debugger: which values of a step are dumped, and what can be asked of such a dump. Source: `tensorflow.python.debug`.

watching    RunOptions that name the outputs to dump
tensors     one dumped value
graphs      the nodes of a dump
dump_dir    all of a step: values and nodes
gradients   the gradients of chosen tensors
sessions    sessions that dump their runs, and hooks that do
lines       commands about a dump, read line by line
local       sessions and hooks that ask for such commands
"""
