# Everything is done by one of these; `make help` lists them. Tools live in .venv, so nothing needs activating.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# Stamps say what a virtualenv holds: the arena alone, or the tools as well. Both go stale with what they depend on.
SERVER_STAMP := $(VENV)/.installed-server
DEV_STAMP := $(VENV)/.installed-dev
PINS := pyproject.toml constraints.txt
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# The first of these that runs and is new enough makes the virtualenv; `make setup PYTHON=…` decides otherwise.
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python

##@ To use it
.PHONY: help
help: ## say what can be made (the default)
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: $(DEV_STAMP) ## make .venv with the arena and every tool (again only when the pins have changed)

.PHONY: demo
demo: $(SERVER_STAMP) ## play a short match of three bots, each a server; SERVE=1 shows it in the browser afterwards
	$(BIN)/wakeng demo $(if $(SERVE),--serve)

##@ To change it
.PHONY: test
test: setup check ## run every check, then the tests
	$(BIN)/pytest -n 2 --dist worksteal

.PHONY: soak
soak: setup ## run the slow tests, which `make test` leaves out; before a release with WAKENG_SOAK_SECONDS=3600
	$(BIN)/pytest -m slow
	$(BIN)/pytest --hypothesis-profile=soak tests/arena/test_fuzz.py

.PHONY: bench
bench: setup ## measure engine, arena and store on this machine, in 6 minutes; let nothing else run
	$(BIN)/wakeng bench engine
	$(BIN)/wakeng bench arena
	$(BIN)/wakeng bench store

.PHONY: goldens
goldens: setup ## write the golden files anew; read the difference before you commit it
	$(BIN)/pytest --write-goldens -k golden

.PHONY: catalogues
catalogues: setup ## gather what the pages say, and compile its translations
	$(BIN)/python -m wakeng.services.web.catalogues

.PHONY: protos
protos: setup ## write protos/generated from protos/wakeng/v1/*.proto
	$(BIN)/python protos/generate.py

.PHONY: baseline
baseline: setup ## accept the protos as they are as what later changes must not break
	cd protos && ../$(BIN)/buf build --exclude-source-info -o baseline.binpb

.PHONY: format
format: setup ## let ruff mend and lay out the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: clean
clean: ## remove the virtualenv, caches and builds; records and other data stay
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find engine protos bots services tests -type d -name __pycache__ -prune -exec rm -rf {} +

##@ The checks, one by one
CHECKS := check-lint check-format check-types check-layers check-protos check-breaking check-generated
.PHONY: check $(CHECKS)
check: $(CHECKS) ## all of them

check-lint: setup ## ruff finds no fault
	$(BIN)/ruff check

check-format: setup ## ruff would lay nothing out differently
	$(BIN)/ruff format --check

check-types: setup ## mypy, strict, over the four roots and the tests
	$(BIN)/mypy

check-layers: setup ## no layer imports one above it
	$(BIN)/lint-imports

check-protos: setup ## buf: the protos keep to the STANDARD style, with a comment on every element
	cd protos && ../$(BIN)/buf lint

check-breaking: setup ## buf: nothing that is on the wire already has changed its meaning
	cd protos && ../$(BIN)/buf breaking --against baseline.binpb

check-generated: setup ## protos/generated is what `make protos` would write
	$(BIN)/python protos/generate.py --check

# How the virtualenv comes about.

$(BIN)/python:
	@for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $(VENV) with $$("$$python" --version)"; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "no Python of 3.11 or later with venv was found; name one: make setup PYTHON=/path/to/python" >&2; \
	exit 1

# Order-only: the interpreter must be there, but its date means nothing.
$(SERVER_STAMP): $(PINS) | $(BIN)/python
	$(PIP_INSTALL) -e '.[server]'
	@touch $@

# Holds all that the server stamp promises, hence both.
$(DEV_STAMP): $(PINS) | $(BIN)/python
	$(PIP_INSTALL) -e '.[server,postgres,nats,otel,dev,search]'
	@touch $(SERVER_STAMP) $@
