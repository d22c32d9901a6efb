"""`tf.contrib.quantize`: graphs that learn, and are measured, as if their numbers had 8 bits. Source: TF 1.15.

After Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference" (2017):
batch norms become part of the weights before them, then weights and activations pass through fake quantisation.
"""
