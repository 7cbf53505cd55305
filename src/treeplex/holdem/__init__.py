"""Texas hold'em subgames: spots, ranges, bet sizes, public tree times hands, solving and reading the answer."""
