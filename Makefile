# Everything a newcomer needs: Python 3.11 or newer and make. Each target sets up what it uses.
#
#   make demo    a payment conversation, played and explained; no key, no server
#   make test    all tests
#   make check   format, lint, types, generated docs
#   make bench   benchmarks: a table, and bench/results.json
#   make bench-why
#                how often explanations are right: a table, and bench/why.json
#   make docs    writes the generated parts of the docs again
#   make clean   removes what the other targets made
#
# Another interpreter:  make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One file an installation; it is done again when pyproject.toml is newer.
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check bench bench-why docs clean
.DEFAULT_GOAL := test

demo: $(INSTALLED)
	@$(BIN)/saywhy demo

test: $(INSTALLED_DEV)
	@$(BIN)/python -m pytest --numprocesses=auto $(PYTEST_ARGS)

# All of them run, so that one run shows all that is wrong.
check: $(INSTALLED_DEV)
	@failed=0; \
	$(BIN)/ruff format --check . || failed=1; \
	$(BIN)/ruff check . || failed=1; \
	$(BIN)/pyright || failed=1; \
	$(BIN)/python docs/generate.py --check || failed=1; \
	exit $$failed

bench: $(INSTALLED)
	@$(BIN)/python -m bench

bench-why: $(INSTALLED)
	@$(BIN)/python -m bench.why

docs: $(INSTALLED_DEV)
	@$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis bench/results.json bench/why.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment that Debian left half made (no pip in it) is made again.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else \
	  "Saywhy needs Python 3.11 or newer; $(PYTHON) is %d.%d. Try: make PYTHON=python3.11" \
	  % sys.version_info[:2])'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(INSTALLED): $(VENV)/.made pyproject.toml
	@echo "Installing Saywhy into $(VENV) ..."
	@$(PIP) install --editable .
	@touch $@

# Dependency groups need pip 25.1; older Pythons ship an older one.
$(INSTALLED_DEV): $(INSTALLED)
	@echo "Installing the development tools into $(VENV) ..."
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group dev
	@touch $@
