"""The unit for depthwise convolutions, which works beside the array."""
