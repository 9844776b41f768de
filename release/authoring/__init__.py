"""Draft a schema without the private table: from flags, a data dictionary, or a public sample; guesses are marked."""

from release.authoring.dictionary import read_dictionary
from release.authoring.draft import DraftColumn, Guess, Setting, draft_text, guesses, missing, with_keys
from release.authoring.private import check_not_private
from release.authoring.sample import draft_sample
from release.authoring.specification import read_setting, read_specification

__all__ = [
    "DraftColumn",
    "Guess",
    "Setting",
    "check_not_private",
    "draft_sample",
    "draft_text",
    "guesses",
    "missing",
    "read_dictionary",
    "read_setting",
    "read_specification",
    "with_keys",
]
