# `make` alone lists the targets. Every target sets up .venv first (quick when nothing changed).
PYTHON ?= python3
PY := .venv/bin/python
SCENARIO ?= throughput
# The lock is read by pip alone: no index is named anywhere in this repository.
UV := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo up bench lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: .venv/.installed  ## make .venv and install the locked dependencies

.venv/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Roomkey needs Python 3.11 or later; name one: make setup PYTHON=python3.12"; exit 1; }
	@test -x $(PY) || { echo "making .venv"; $(PYTHON) -m venv .venv; }
	@echo "installing the locked dependencies"
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch .venv/.installed

check: setup  ## format, lint, types, import contracts
	@.venv/bin/ruff format --check --quiet . || { echo "formatting differs: run make format"; exit 1; }
	@.venv/bin/ruff check --quiet .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

format: setup  ## rewrite the code in the one format
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix --quiet .

test: setup  ## all tests, on an embedded Postgres and Valkey
	@$(PY) -m pytest -q -n 2 --dist loadfile

demo: setup  ## Friday 18:40, played on real parts
	@.venv/bin/roomkey demo

up: setup  ## start everything, embedded where nothing of yours is named
	@.venv/bin/roomkey up

bench: setup  ## measure one scenario: make bench SCENARIO=throughput
	@$(PY) -m bench $(SCENARIO)

lock: setup  ## resolve the dependencies anew and write requirements/
	@$(UV) pyproject.toml -o requirements/run.txt
	@$(UV) pyproject.toml --extra embedded --extra dev -o requirements/dev.txt

clean:  ## remove what was built (not .roomkey, which is data)
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
