"""Stand-ins for the modules below `tensorflow` that are no public namespaces.

`places` is the table: which of our modules answer for which of TensorFlow's. `modules` makes modules out of its rows. The
others are what TensorFlow keeps in private modules and nothing else of tfexp needs: they are here to be imported by programs
and tests written for TensorFlow.
"""
