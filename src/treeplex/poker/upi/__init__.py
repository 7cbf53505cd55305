"""A subset of UPI, PioSOLVER's text protocol, so that scripts written for it drive this solver.

Commands and answers follow piosolver.com/docs/upi (basics and commands); ``docs/how-to/formats.md`` lists the subset.
"""
