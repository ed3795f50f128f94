# Signum. `make` alone lists the targets.
PYTHON ?= python3
BIN := .venv/bin
# The system knows the certificate of a proxy that inspects TLS; uv and Node do not.
export UV_SYSTEM_CERTS = 1
export NODE_USE_SYSTEM_CA = 1
# Without Python's bytecode files every start compiles 1,800 modules again, which is half its time.
unexport PYTHONDONTWRITEBYTECODE
BOOTSTRAP = install --quiet --disable-pip-version-check --require-hashes -r requirements-bootstrap.lock
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
.DEFAULT_GOAL := help
.PHONY: help run demo-reset install test long nightly check fast-check hooks format openapi client contracts fuzz nodes chaos load cluster bench browser screenshots wheel locks deployments clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: .venv/.run ## install everything and start the console and the API on http://localhost:8000
	@$(BIN)/signum serve

demo-reset: .venv/.run ## delete all data of the demo and create the demo again, at once where it runs
	@$(BIN)/signum demo-reset

install: .venv/.dev ## install what development and the tests need, without the browser

test: .venv/.dev browser ## install what the tests need, a browser included, and run them
	@$(BIN)/python -m tests

long: .venv/.dev browser ## run the tests that take long: walks over everything, pools of nodes, killed processes, further stories
	@$(BIN)/python -m tests --long

nightly: .venv/.dev browser ## run the tests that repeat others with more cases, before a release
	@$(BIN)/python -m tests --nightly

check: fast-check ## format, lint, prose, types, layers, tests of the pure rules, unused code, structure
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/pytest tests/*/test_rules.py
	@$(BIN)/python -m tests.unused
	@$(BIN)/python -m tests.structure

fast-check: .venv/.dev ## the part of `check` that takes a few seconds
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m tests.words --check

hooks: ## run fast-check before each commit in this clone
	@git config core.hooksPath .hooks

format: .venv/.dev ## format and sort imports
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

openapi: .venv/.dev ## write the API's OpenAPI document to backend/openapi.json
	@$(BIN)/signum openapi > backend/openapi.new && mv backend/openapi.new backend/openapi.json

client: openapi ## write the OpenAPI document and, from it, the Python client's methods
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m backend.openapi.methods

browser: .venv/.dev ## find a Chromium, or install one
	@$(BIN)/python -m tests.support.browser

contracts: .venv/.run .venv/.contracts ## compile, test, measure and analyze the Solidity contracts, offline after the first download
	@PATH="$(CURDIR)/$(BIN):$(CURDIR)/.venv/contracts/bin:$$PATH" backend/contracts/check.sh

deployments: .venv/.deployments ## lint the image, and render and check the Helm chart, offline after the first download
	@PYTHONPATH="$(CURDIR)" .venv/deployments/bin/python -m tests.deployments

fuzz: .venv/.dev ## compare Python's decisions with those of the deployed contracts, 100,000 times
	@$(BIN)/python -m tests.compliance.fuzz

nodes: .venv/.dev ## run 500 random stories behind pools of lagging nodes, kill the server, compare chain, tables and requests
	@$(BIN)/python -m tests.nodes $(if $(STORIES),--stories $(STORIES)) $(if $(SEED),--seed $(SEED))

chaos: .venv/.dev ## kill, stop and slow an installation's parts in 200 runs, fill its disk, compare everything (RUNS=20 SEED=1)
	@$(BIN)/python -m tests.chaos --runs $(or $(RUNS),200) $(if $(SEED),--seed $(SEED))

load: .venv/.dev ## mixed traffic for 30 minutes at half of a server's capacity, then three times as much as it can do (MINUTES=5 SEED=1)
	@$(BIN)/python -m tests.load --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED))

cluster: .venv/.dev browser ## start what would be five machines (PostgreSQL with a replica, Redis, nginx, 2 web, 2 workers), let parts die, compare
	@$(BIN)/python -m tests.cluster $(if $(ONLY),--only "$(ONLY)")

bench: .venv/.dev ## measure starts, memory, markets, and a Merkle tree of a million recipients
	@$(BIN)/python -m tests.bench

screenshots: .venv/.dev browser ## picture every page as each role (ARGS="--role admin --page markets"); ARGS=--readme the README's, ARGS=--tour the tour's
	@$(BIN)/python -m tests.screenshots $(ARGS)

locks: .venv/.uv ## write the locks of the deployment files from pyproject.toml, after a change of its dependencies
	@$(COMPILE) pyproject.toml --extra aws -o deploy/docker/programs.lock
	@echo hatchling==$$($(BIN)/python -c 'import re; print(re.search(r"hatchling==([\d.]+)", open("pyproject.toml").read())[1])') | $(COMPILE) pyproject.toml - -o deploy/docker/wheel.lock
	@$(COMPILE) --group deployments -o requirements-deployments.lock
	@echo cyclonedx-bom==7.5.0 | $(COMPILE) - -o deploy/docker/sbom.lock

wheel: .venv/.dev ## build the wheel, with the built console in it, into dist/
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)} $(BIN)/hatchling build -t wheel

clean: ## remove what was built and installed, and keep the data
	rm -rf .venv .web .states dist node_modules

.venv/.uv: requirements-bootstrap.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Signum needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import platform, sys; sys.exit(sys.platform == "linux" and platform.libc_ver()[0] != "glibc")' || { echo "Signum needs Linux with glibc (not musl, as in Alpine), or macOS"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip .venv
	@$(PYTHON) -m pip --python $(BIN)/python $(BOOTSTRAP) 2>/dev/null || { $(PYTHON) -m venv .venv && $(BIN)/python -m pip $(BOOTSTRAP); }
	@$(BIN)/python -c 'import site, os; open(os.path.join(site.getsitepackages()[0], "signum.pth"), "w").write(os.getcwd() + "\n")'
	@printf '#!/bin/sh\nunset PYTHONDONTWRITEBYTECODE\nexec "%s/python" -m backend.cli "$$@"\n' "$(CURDIR)/$(BIN)" > $(BIN)/signum && chmod +x $(BIN)/signum
	@touch $@

.venv/.run: .venv/.uv requirements.lock
	@test -e .venv/.dev || $(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	@touch $@

.venv/.contracts: .venv/.uv requirements-contracts.lock
	@test -x .venv/contracts/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .venv/contracts
	@$(BIN)/uv pip sync --quiet --python .venv/contracts/bin/python --require-hashes requirements-contracts.lock
	@touch $@

.venv/.deployments: .venv/.uv requirements-deployments.lock
	@test -x .venv/deployments/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .venv/deployments
	@$(BIN)/uv pip sync --quiet --python .venv/deployments/bin/python --require-hashes requirements-deployments.lock
	@touch $@

.venv/.dev: .venv/.uv requirements-dev.lock
	@$(BIN)/uv pip sync --quiet --require-hashes requirements-dev.lock
	@touch $@ .venv/.run
