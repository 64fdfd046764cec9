# Two commands are all it takes: make demo, make test. Each does its whole set-up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := all
.PHONY: all demo test test-engine soak check fix golden docs eval bench lab clean

all: check test

demo: $(VENV)/.installed  ## tell the CT129 story: no key, no network, no GPU
	$(BIN)/perfsleuth demo

test: $(VENV)/.tested  ## run the tests
	$(BIN)/python -m pytest -q

soak: $(VENV)/.tested  ## the slow suite: a crowd of questions, cut sockets, kill -9; every lie and every hostile text
	$(BIN)/python -m pytest -q --soak tests/soak

test-engine: $(VENV)/.tested  ## a real SGLang on the CPU, set up below ~/.cache: our load on it agrees with its own log
	$(BIN)/python -m pytest -q --engine tests/real_engine

check: $(VENV)/.tested  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/.tested
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(VENV)/.tested  ## write the facts that today's parsers read; look at the difference before you commit it
	$(BIN)/python -m pytest -q tests/test_golden.py --update-golden

docs: $(VENV)/.tested  ## write the generated pages
	$(BIN)/python -m pytest -q tests/test_docs.py --update-golden

eval: $(VENV)/.tested  ## judge the cases with known answers, and write what was measured into docs/evaluation.md
	$(BIN)/perfsleuth eval tests/scenarios/dev
	$(BIN)/python -m pytest -q --soak tests/soak/test_measured.py --update-golden

bench: $(VENV)/.tested  ## time the SSH batch, a 1 GB log and the start of the command
	$(BIN)/python -m tests.bench

lab: $(VENV)/.tested  ## a host to try it on: sshd on loopback with fake GPU commands
	$(BIN)/python -m tests.lab

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "perfsleuth needs Python 3.11 or newer; name one with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-build.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.tested: requirements-dev.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@
