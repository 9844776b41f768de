"""Property tests repeat the same examples in every run; ``DPRELEASE_EXPLORE=1`` looks for new ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("DPRELEASE_EXPLORE") else "repeatable")
