"""What holds for every test: signals as in a terminal, and the same property examples in every run.

``DPRELEASE_EXPLORE=1`` looks for new examples.
"""

import os
import signal

from hypothesis import settings

# A suite that runs in the background inherits ignored signals, and so would the commands that it interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("DPRELEASE_EXPLORE") else "repeatable")
