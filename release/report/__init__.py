"""The public report of a release: what it is, what it promises, what it cost, what it is good for.

A report is a pure function of the release folder's own files, so that anyone can make the same bytes again.
"""
