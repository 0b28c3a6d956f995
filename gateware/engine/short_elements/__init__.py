"""The unit for element-wise operators of int16."""
