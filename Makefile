# Everything a developer or a machine runs, by name. `make` alone lists it.
#
# Packages come from wherever pip is configured to find them: an index, or a folder of
# wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=/folder make demo). Nothing else is downloaded.

PYTHON ?= python3
DATA ?= .agentworks
WORKERS ?= 2
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUNTIME := .venv/runtime.stamp
DEV := .venv/dev.stamp
# These start servers, kill them or open a browser: each has a target of its own.
APART := tests/crash tests/fuzz tests/browser

.SHELLFLAGS := -euc
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo serve test check lint types imports docs-check changelog tidy golden docs \
	bench crash fuzz browser test-deps lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

# --- run it -----------------------------------------------------------------------------

demo: $(RUNTIME) ## two agents talk on this machine, from nothing; ends by itself
	$(BIN)/python -m fixtures.demo

serve: $(RUNTIME) ## start a server; its folder is DATA (default .agentworks)
	$(BIN)/agentworks serve --data $(DATA) $(ARGS)

# --- check it ---------------------------------------------------------------------------

test: $(DEV) ## the quick tests; ARGS="-k word" narrows them, WORKERS=0 runs them in line
	$(BIN)/python -m pytest -n $(WORKERS) $(APART:%=--ignore=%) $(ARGS)

check: lint types imports docs-check changelog tidy ## all that is checked without running the server

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

imports: $(DEV)
	$(BIN)/lint-imports --no-logo

docs-check: $(DEV)
	$(BIN)/python -m docs.generate --check

changelog: $(DEV)
	$(BIN)/python -m tests.check_changelog

tidy: $(DEV)
	$(BIN)/python -m pytest tests/test_tidy*.py $(ARGS)

crash: $(DEV) ## kill the server in the middle, fill its disk, and look at what is left
	$(BIN)/python -m pytest --timeout=600 tests/crash $(ARGS)

fuzz: $(DEV) ## every kind of wrong input, made up by a machine
	$(BIN)/python -m pytest --timeout=1200 tests/fuzz $(ARGS)

browser: $(DEV) ## the pages, in headless Chromium (make test-deps brings it)
	$(BIN)/python -m pytest --timeout=300 tests/browser $(ARGS)

bench: $(DEV) ## the measured ratios, each against its bound
	$(BIN)/python -m bench $(ARGS)

# --- change it --------------------------------------------------------------------------

golden: $(DEV) ## rewrite the goldens from what the server says now; print the diff by operation
	@code=0; $(BIN)/python -m pytest --snapshot-update $(APART:%=--ignore=%) $(ARGS) || code=$$?; \
		$(BIN)/python -m tests.golden_diff; exit $$code

docs: $(DEV) ## rewrite the generated passages of the documentation
	$(BIN)/python -m docs.generate

# --- set it up --------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3")'
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install -qq --requirement requirements.lock
	$(PIP) install -qq --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	$(PIP) install -qq --requirement requirements-dev.lock
	@touch $@

test-deps: ## programs the tests need besides Python packages: chromium, bubblewrap
	@if command -v chromium >/dev/null && command -v bwrap >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq; \
		apt-get install -y -qq --no-install-recommends chromium bubblewrap; \
	else \
		echo "Install the programs chromium and bwrap first; on Debian, as root:" >&2; \
		echo "  apt-get install chromium bubblewrap" >&2; \
		exit 1; \
	fi

lock: ## renew both locks: the newest versions that pyproject.toml allows
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	pip="$$fresh/bin/python -m pip --disable-pip-version-check"; \
	freeze() { \
		printf '# %s\n# Renew with `make lock`; ranges are in pyproject.toml.\n' "$$2" >"$$1"; \
		$$pip freeze --exclude agentworks >>"$$1"; \
	}; \
	$(PYTHON) -m venv "$$fresh"; \
	$$pip install -qq hatchling editables .; \
	freeze requirements.lock 'What agentworks runs with, and what installs it.'; \
	$$pip install -qq '.[dev]'; \
	freeze requirements-dev.lock 'The same, and what checks it.'

clean: ## remove what these targets made, the environment too; DATA stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
