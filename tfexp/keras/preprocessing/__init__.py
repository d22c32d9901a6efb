"""What turns raw sequences, text and images into arrays that a model can be fed."""
