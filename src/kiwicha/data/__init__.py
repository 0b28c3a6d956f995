"""The bundled demo model, its labels and its picture."""
