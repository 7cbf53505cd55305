"""The explorer's server: a JSON API over run folders, a queue of solves, and one static page."""
