"""In what order and in which stripes operations run, and where their tensors lie."""
