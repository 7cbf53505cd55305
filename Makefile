# Two commands on a fresh machine that has Python 3.11 or newer: `make solve` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
FLOORS := tests/unit/test_policy.py tests/unit/test_evaluation.py tests/unit/test_files.py tests/unit/test_run_loop.py tests/unit/test_plot.py tests/cli/test_runs.py
# Byte code is kept, whatever the environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: solve test test-slow test-gpu test-floors mutants fuzz kill-test calibrate screenshots docs site-screenshots dist format clean

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

# The site, in build/site: any warning fails, and so does a dead link or a sentence that is not plain. Needs no network.
docs: .venv/installed-dev
	$(BIN)/python tools/english.py
	$(BIN)/sphinx-build -c docs -W --keep-going -n -q . build/site
	@echo "open build/site/index.html"

site-screenshots: docs
	$(BIN)/python tools/site_screenshots.py

# Wheel and sdist, checked, and the wheel tried in an environment that has nothing else.
dist: .venv/installed-dev
	rm -rf dist build/dist-venv
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/dist-venv
	build/dist-venv/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	env -u PYTHONPATH build/dist-venv/bin/python -P tools/smoke.py

# The lowest version of every dependency that pyproject.toml allows: a part of the tests, in an environment of its own.
test-floors: .venv/installed-dev
	mkdir -p build
	$(BIN)/python tools/floors.py > build/floors.txt
	$(PYTHON) -m venv --clear build/floors-venv
	build/floors-venv/bin/python -m pip install --quiet --disable-pip-version-check -c build/floors.txt -e '.[web,pandas]' pytest pytest-xdist hypothesis httpx
	build/floors-venv/bin/python -P tools/smoke.py
	build/floors-venv/bin/python -m pytest -p no:cacheprovider -W ignore::DeprecationWarning --deselect tests/unit/test_policy.py::test_alignment_is_by_label_not_by_place $(FLOORS)

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
