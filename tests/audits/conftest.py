"""The classifiers of the utility metrics spin for each other's cores where tests run beside others: one thread each."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when scikit-learn first loads its OpenMP
