"""`tf.contrib.graph_editor`: parts of a graph seen as such, copied, and wired anew. Source: TF 1.15."""
