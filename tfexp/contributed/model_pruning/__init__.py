"""`tf.contrib.model_pruning`: the smallest weights become and stay zero while a model learns. Source: TF 1.15.

After Zhu and Gupta, "To prune, or not to prune: exploring the efficacy of pruning for model compression" (2017).
"""
