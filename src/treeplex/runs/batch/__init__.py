"""Many jobs, each a run of its own: what they are, what they take, who carries them out, and what came of them."""
