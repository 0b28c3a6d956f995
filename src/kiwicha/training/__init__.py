"""Training of the bundled demo model; needs the optional extra ``train``."""
