# For a fresh machine that has Python 3.11 or later, a C++ compiler and make:
#   make demo      installs and runs the demo
#   make quick     installs and runs the tests without simulators, synthesis and browser: 2 minutes
#   make test      what continuous integration runs: 12 minutes on two cores
#   make nightly   all tests: hours
# Everything else comes as Python packages, into .venv (or the environment that is active).

PYTHON ?= python3
VENV ?= $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV),.venv)
PIP_FLAGS ?= --quiet --disable-pip-version-check
# Arguments for pytest: make test ARGS="-k zoo".
ARGS ?=
# Tests start hundreds of processes: they share compiled bytecode, even where it is switched off.
export PYTHONDONTWRITEBYTECODE :=

# What is installed is named after what it was installed from, so that a change installs anew.
key = $(shell cat pyproject.toml constraints.txt | cksum | tr ' ' '-')
user_env := $(VENV)/kiwicha-user-$(key)
test_env := $(VENV)/kiwicha-test-$(key)
bin := $(VENV)/bin

# What `make quick` leaves out.
heavy = nightly or verilator or synth or browser or slow

.PHONY: help demo quick test nightly lint results release-check site wheel clean

help:
	@echo "make demo | quick | test | nightly | lint | results | release-check | site | wheel | clean"

demo: $(user_env)
	$(bin)/kiwicha demo $(ARGS)

quick: $(test_env)
	$(bin)/python -m pytest -n 2 --dist worksteal -m "not ($(heavy))" $(ARGS)

test: $(test_env)
	$(bin)/python -m pytest -n 2 --dist worksteal $(ARGS)

nightly: $(test_env)
	KIWICHA_CHECK_DRAM=1 $(bin)/python -m pytest -n 2 --dist worksteal -m "nightly or not nightly" $(ARGS)

# Which measurements are of an earlier hardware: make results ARGS=--renew measures them again.
results: $(test_env)
	$(bin)/python -m tools.results $(ARGS)

release-check: $(test_env)
	$(bin)/python -m tools.results --check

lint: $(test_env)
	$(bin)/python -m nox -s lint types

site: $(test_env)
	$(bin)/python -m tools.site

wheel: $(bin)/python
	$(bin)/python -m pip wheel $(PIP_FLAGS) --no-deps --wheel-dir build/wheel .

$(bin)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python must be 3.11 or later")'
	$(PYTHON) -m venv $(VENV)

$(user_env): | $(bin)/python
	@echo "installing into $(VENV): some minutes the first time"
	$(bin)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e .
	@touch $@

$(test_env): | $(bin)/python
	@echo "installing into $(VENV) with what the tests need: some minutes the first time"
	$(bin)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[test]'
	@touch $@ $(user_env)

clean:
	rm -rf build .nox .mypy_cache .ruff_cache .pytest_cache
