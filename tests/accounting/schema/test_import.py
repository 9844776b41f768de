"""Loading the schema is light: a command line that needs it starts fast."""

import subprocess
import sys

HEAVY = ["pandas", "pyarrow", "jax", "torch", "sklearn", "scipy", "matplotlib", "sqlalchemy", "mpmath", "numba"]


def test_the_schema_loads_nothing_heavy():
    code = f"import sys, accounting.schema; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_casting_texts_loads_nothing_heavy():
    code = (
        "import sys; from accounting.schema import IntegerColumn as C;"
        "c = C(name='x', nullable=True, min=0, max=9); c.text_of_ticks(c.ticks_of_text(['5', 'x']));"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
