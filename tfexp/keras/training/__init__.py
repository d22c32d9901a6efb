"""Training of Keras models: `compile`, `fit`, `evaluate`, `predict` and their siblings for single batches. Source: TF 1.15.

What `compile` is given becomes one `Output` for each output of the model (`outputs`), of which the loss and the metrics are
computed (`objective`), in the graph or eagerly. A step (`steps`) is one call of one prepared function, or the same computed
at once under a tape. Whatever data is given is made `Batches` (`batches`, `dataset_batches`, `generator_batches`), which
one loop (`loop`) goes through, with callbacks.
"""
