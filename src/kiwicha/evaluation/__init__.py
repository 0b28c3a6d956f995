"""How often a model is right: labelled data, and what its answers are worth."""
