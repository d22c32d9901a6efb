"""What layers and models are: weights, calls, the nodes between layers, networks of layers."""
