"""The public sub-namespaces (`tf.nn`, `tf.math`, `tf.errors`, …): re-exports, no logic."""
