# Two commands are all it takes: make demo, make test. Each does its whole set-up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := all
.PHONY: all demo test test-engine test-engine-long soak soak-long check fix golden docs eval bench lab clean

all: check test

demo: $(VENV)/.installed  ## tell the CT129 story: no key, no network, no GPU
	$(BIN)/perfsleuth demo

test: $(VENV)/.tested  ## run the tests
	$(BIN)/python -m pytest -q -n 2

soak: $(VENV)/.tested  ## the slow suite: a crowd of questions, cut sockets, kill -9, a change that fails at each transition; every lie and hostile text
	$(BIN)/python -m pytest -q --soak -m "not long" tests/soak

soak-long: $(VENV)/.tested  ## changes under 115 faults, mornings and replicas that are killed, the image built step by step: 30 minutes
	$(BIN)/python -m pytest -q --soak -m long tests/soak

test-engine: $(VENV)/.tested  ## a real SGLang on the CPU, set up below ~/.cache: our load agrees with its log; changes are kept or taken back
	$(BIN)/python -m pytest -q --engine -m "not long" tests/real_engine

test-engine-long: $(VENV)/.tested  ## all of it: each end under every launcher, and twelve faults: 25 minutes
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
