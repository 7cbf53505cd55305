"""Rules of Texas hold'em: cards, ranges, bet sizes, spots and betting trees."""
