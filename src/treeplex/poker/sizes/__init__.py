"""The search for bet sizes that matter: the best few of many, with certified bounds on the others."""
