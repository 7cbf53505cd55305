"""Lossless compression of tables of regrets and averages: prediction, contexts and asymmetric numeral systems."""
