"""Linear operators: batches of matrices that know their structure, so that what is asked of them costs what it must.

`operator` says what all can do, and how from a dense matrix; each kind overrides what its structure makes cheaper.
"""

from tfexp.linear_operators import functions as functions  # registers itself with the functions of matrices
