"""Make sentences of the catalogue whose English text goes into ``report.json``."""

from release.report.language import Words
from release.report.model import Sentence


def sentence(key: str, **values: str | float) -> Sentence:
    """Return a message of the catalogue with its values and its English text."""
    return Sentence(key=key, values=values, text=Words("en").text(key, **values))
