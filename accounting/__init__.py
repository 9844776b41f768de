"""The trusted core: the only code that can cost privacy."""
