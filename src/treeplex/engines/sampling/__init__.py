"""Public tree times deals: Monte Carlo and Pure CFR; and a dictionary form for rules that are not compiled."""
