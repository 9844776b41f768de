"""Evidence: does what ran keep what was claimed, and what does the output reveal or preserve.

An audit can refute a claim. A pass is no proof, and every report says so. Nothing here can open a private file: audits
of mechanisms run on planted tables, and audits of a release get their rows from the caller.
"""
