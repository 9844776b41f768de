# Every target makes the environment it needs in .venv; nothing else has to be installed by hand but Python 3.11.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
WORKERS ?= 2
BENCHMARKS ?= core ledger pgm aim quality categories predictions tabpe audits

# One thread per worker: the numeric core is single-threaded, and two workers share the machine.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export JAX_PLATFORMS ?= cpu

.PHONY: demo demo-pe test check lint types contracts coverage slow bench clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[fast,demo,export,postgres,test]'
	touch $@

demo: $(STAMP)  ## the main job on real data: plan, run, verify
	$(BIN)/python -m demo.rand_hie

demo-pe: $(STAMP)  ## private evolution on breast cancer data: plan, run, verify
	$(BIN)/python -m demo.breast_cancer

test: $(STAMP)  ## the tests (benchmarks and long statistical runs have targets of their own)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: lint types contracts test  ## what continuous integration runs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

coverage: $(STAMP)  ## branch coverage; the trusted core must be complete
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-branch --cov-report=
	$(BIN)/coverage report --include='accounting/*' --fail-under=100 --show-missing
	$(BIN)/coverage report --skip-covered

slow: $(STAMP)  ## long statistical runs, and property tests with fresh examples
	$(BIN)/python -m pytest -n $(WORKERS) -m slow
	DPRELEASE_EXPLORE=1 $(BIN)/python -m pytest -n $(WORKERS) tests/properties tests/accounting tests/mechanisms

bench: $(STAMP)  ## every benchmark, figures as JSON in bench-results/ (an hour or two; QUICK=1 for a few minutes)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	mkdir -p bench-results
	failed=0; for name in $(BENCHMARKS); do \
	  $(BIN)/python -m benchmarks.$$name $(if $(QUICK),--quick) --out bench-results/$$name.json || failed=1; \
	done; exit $$failed

clean:
	rm -rf $(VENV) demo-workspace demo-pe-workspace .pytest_cache .mypy_cache .ruff_cache .hypothesis bench-results
