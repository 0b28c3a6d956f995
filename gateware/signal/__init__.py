"""The unit for frames of sound: weights, Fourier transforms, bands and roots."""
