"""Programs made by hand, and what is run of them."""
