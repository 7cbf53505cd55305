"""A solved spot as people read it: nodes, hands, values of actions, equity."""
