"""Views of a solved spot for people: nodes, hands, values of actions, equity."""
