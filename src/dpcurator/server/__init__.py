"""A server: analysts at a distance ask the curator over HTTP, each in an account with a limit of its own.

Parse a request, find who sent it, call the curator, write what it returns: nothing is decided here that the curator or
the ledger decides.
"""
