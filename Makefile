# `make` lists the targets. `make site` and `make test` work on a fresh machine.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
COLLECTION := $(VENV)/collections/ansible_collections/inferops/blackwell
QUICKSTART := playbooks/inventories/quickstart.yml
# The controller's Python: 3.11 or newer. `make PYTHON=/path/to/python site` overrides the search.
PYTHON ?= $(shell requirements/bin/find-python)

export PATH := $(CURDIR)/$(BIN):$(PATH)
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- environment -----------------------------------------------------------------------------
.PHONY: setup
setup: $(VENV)/.controller  ## make .venv with everything a controller needs, pinned by hash

$(VENV)/.python:
	@echo "==> .venv with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(COLLECTION): | $(VENV)/.python
	@mkdir -p $(dir $@)
	@ln -sfn ../../../.. $@

$(VENV)/.controller: requirements/controller.txt | $(VENV)/.python $(COLLECTION)
	@requirements/bin/install $(VENV) requirements/controller.txt
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.controller
	@requirements/bin/install $(VENV) requirements/test.txt
	@touch $@

.PHONY: lock
lock: $(VENV)/.controller  ## resolve requirements/*.in anew
	cd requirements && for name in controller test; do \
	    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	        $$name.in --output-file $$name.txt; done

# ---- quickstart ------------------------------------------------------------------------------
.PHONY: site clean-quickstart
site: setup  ## this machine, CPU, tiny model: a patched, healthy, answering SGLang
	ansible-playbook -i $(QUICKSTART) playbooks/site.yml $(ARGS)

clean-quickstart: setup  ## stop that server and remove .quickstart/
	ansible-playbook -i $(QUICKSTART) playbooks/clean_quickstart.yml $(ARGS)

# ---- tests -----------------------------------------------------------------------------------
# The engine is looked for before anything is made. STAGES="unit patch" runs a part (docs/testing.md).
.PHONY: test proof bed molecule unit lint
test:  ## every test that needs no GPU (a Docker engine is needed; .ci/run starts one)
proof:  ## the same without samples
test proof:
	@"$(PYTHON)" -B tests/bed/engine.py check
	@$(MAKE) --no-print-directory $(VENV)/.test
	@python tests/bed/suite.py $(if $(filter proof,$@),--proof) $(STAGES)

molecule: STAGES := patch default
molecule: test  ## only the scenarios in containers

bed: $(VENV)/.test  ## base images and archives of the tests, ahead of time
	@python tests/bed/downloads.py
	@python tests/bed/images.py

unit: $(VENV)/.test  ## unit tests
	pytest --numprocesses=auto tests/unit

lint: $(VENV)/.test  ## yamllint, ansible-lint (production), ruff, mypy
	@failed=0; run() { echo "==> $$*"; "$$@" || failed=1; }; \
	run yamllint --strict .; run ansible-lint --offline; \
	run ruff check .; run ruff format --check .; run mypy; exit $$failed
