"""Monte Carlo and Pure CFR: on public trees with sampled deals, and on rules that are not compiled."""
