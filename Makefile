# Two commands on a fresh machine that has Python 3.11 or newer: `make solve` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
# Byte code is kept, whatever the environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: solve test test-slow test-gpu mutants fuzz kill-test calibrate screenshots docs format clean

solve: .venv/installed
	$(BIN)/treeplex solve leduc --algorithm cfr+ --nash-conv 1e-3

test: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --no-loadscope-reorder

test-slow: .venv/installed-dev
	$(BIN)/pytest -m slow

# On a machine with a GPU; without one, the same kernels run on tiny games in `make test`.
test-gpu: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cuda]'
	$(BIN)/pytest -m '' tests/cuda
	$(BIN)/python benchmarks/gpu/check.py --no-times

mutants: .venv/installed-dev
	$(BIN)/python tests/mutants/run.py

fuzz: .venv/installed-dev
	$(BIN)/python tests/fuzz/fuzzing.py

kill-test: .venv/installed-dev
	$(BIN)/python tests/kill/run.py

# The nanoseconds by which `auto` decides; on a quiet machine, one minute.
calibrate: .venv/installed-dev
	$(BIN)/python benchmarks/portfolio/calibrate.py

screenshots: .venv/installed-dev
	$(BIN)/python tools/screenshots.py

# The site, in build/site: any warning fails, a link or anchor that leads nowhere included. Needs no network.
docs: .venv/installed-dev
	$(BIN)/sphinx-build -c docs -W --keep-going -n -q . build/site
	@echo "open build/site/index.html"

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treeplex needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ .venv/installed

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
