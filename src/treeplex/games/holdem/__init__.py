"""Texas hold'em's rules: cards, ranges, bet sizes, spots, betting trees."""
