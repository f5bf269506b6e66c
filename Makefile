# Everything a user runs. Nothing but Python 3.11+ and make is needed; tools live in .venv.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
PIP := $(RUN) pip --disable-pip-version-check
OWN := parity python/rlworldkit
REQUIREMENTS := pyproject.toml $(OWN:=/pyproject.toml) constraints.txt
# uv takes 18 seconds of processor time, pip 26 takes 41, the one that Python 3.11 brings 72. Python compiles the modules
# that are imported; compiling all that is installed takes as long as installing it.
install = .ci/install $(VENV)/bin/python --constraint constraints.txt $(OWN:%=--editable ./%) --editable $(1)
# What takes a while says how long, and on a terminal a clock moves.
clocked = .ci/with-clock "$(1)"
PYTEST_WORKERS ?= auto
# Of accelerators, for tests that need none; beside the environment, where JAX would look for their devices.
COMPILERS := .cache/compilers

TRAIN_FLAGS ?= --preset quick

# For two CPU cores: a small network that takes more gradient steps an update. What each setting does without them, and
# the full-length run, is in docs/explanation/results.md.
GOODHARTS_SETTINGS ?= GOODHARTS_TRAINING_MINIBATCHES=4 GOODHARTS_TRAINING_HIDDEN=128 \
	GOODHARTS_TRAINING_LEARNING_RATE=0.0007
GOODHARTS_FLAGS ?= --engine jax --mode all --network mlp --updates 64
GOODHARTS_EVALUATION ?= --games 256 --steps 4096

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup train goodharts test test-long pytest test-matrix lint docs docs-output docs-serve bench accelerator-check parity parity-goodharts mutants pictures engine swift bundle wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.all ## install the packages with every extra into .venv

train: $(VENV)/.core ## train an agent for about four minutes (installs the core only)
	@$(RUN) hackmatrix.cli.main train $(TRAIN_FLAGS)

goodharts: $(VENV)/.goodharts ## train four agents of Goodharts for about three minutes, and show what they came to eat
	@$(GOODHARTS_SETTINGS) $(RUN) goodharts.cli.main train $(GOODHARTS_FLAGS)
	@$(RUN) goodharts.cli.main compare $(GOODHARTS_EVALUATION) --json models/goodharts.json --picture models/goodharts.png

test: ## check style and types, build the documentation and what there is of Swift, run the tests
	@$(MAKE) --no-print-directory --jobs=4 lint docs swift pytest

test-long: $(COMPILERS)/.installed ## the same with the tests that take minutes, and programs optimised as those of a user are
	@JAX_DISABLE_MOST_OPTIMIZATIONS=false $(MAKE) --no-print-directory --jobs=4 lint docs swift pytest PYTEST_FLAGS='-m ""'

pytest: $(VENV)/.all engine
	@$(RUN) pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder -rs $(PYTEST_FLAGS)

# JAX@PYTHON; one alone: make test-matrix MATRIX=0.12@/path/to/python3.13
MATRIX ?= 0.10@python3.13 0.11@python3.12 0.12@python3.12 0.12@python3.13

test-matrix: ## run the tests that depend on JAX with other versions of JAX and Python
	@.ci/test-matrix $(MATRIX)

lint: $(VENV)/.all ## ruff, mypy, the import contracts and the ceilings of size
	@$(RUN) ruff check
	@$(RUN) ruff format --check
	@$(RUN) mypy
	@$(VENV)/bin/lint-imports --no-logo
	@$(VENV)/bin/python .ci/check_size.py

MKDOCS := env NO_MKDOCS_2_WARNING=1 JAX_PLATFORMS=cpu $(RUN) mkdocs

docs: $(VENV)/.all ## build the documentation into .cache/site; a broken link is an error
	@$(call clocked,Building the documentation (ten seconds to a minute)) $(MKDOCS) build --strict

# Some pages: make docs-output DOCS_FLAGS="tutorials/change-a-reward --leave-out 'train|compare'"
docs-output: $(VENV)/.all ## run the commands of the pages, and write anew what they show (ten minutes)
	@$(RUN) tests.project.shown_output $(DOCS_FLAGS)

docs-serve: $(VENV)/.all ## show the documentation in a browser, and build it anew whenever it changes
	@$(MKDOCS) serve

bench: $(VENV)/.core ## measure the environment, the trainer and the start-up
	@$(RUN) hackmatrix.cli.main bench

# With what is installed, in .venv or else for $(PYTHON): nothing is fetched.
accelerator-check: ## check the GPU or TPU, engines and speeds, in eight minutes: accelerator-check/accelerator.html
	@PYTHONPATH="$(CURDIR)/python:$(CURDIR)/parity$${PYTHONPATH:+:$$PYTHONPATH}" \
		"$(or $(wildcard $(VENV)/bin/python),$(PYTHON))" studies/accelerator_check.py $(ACCELERATOR_FLAGS)

# One folder for the release build of ./swift-build and for the tests.
SWIFT_BUILD := .build-$(if $(filter Darwin,$(shell uname -s)),macos,linux)

parity: $(VENV)/.all ## hold both engines to each other for 10,000,000 steps, and count every rule (about ten minutes)
	@./swift-build
	@$(RUN) rlparity run --engines swift,jax --source uniform --games 2048 --steps 2500 --seed 0
	@$(RUN) rlparity run --engines swift,jax --source uniform --games 2048 --steps 2500 --seed 1000000 --auto-reset
	@$(RUN) rlparity coverage --engines swift,jax --source directed --games 256 --steps 2000 --seed 2000000

GOODHARTS_MODES := ground_truth ground_truth_blinded proxy_mortal proxy ground_truth_handhold

parity-goodharts: $(VENV)/.all ## the same for both engines of Goodharts, in all of its modes (about ten minutes)
	@for mode in $(GOODHARTS_MODES); do \
		engines="--world goodharts-$$mode --engines torch,jax"; \
		$(RUN) rlparity run $$engines --source uniform --games 1024 --steps 900 --seed 0 \
		&& $(RUN) rlparity run $$engines --source uniform --games 1024 --steps 900 --seed 1000000 --auto-reset \
		&& $(RUN) rlparity run $$engines --source directed --games 256 --steps 400 --seed 2000000 --auto-reset \
		&& $(RUN) rlparity coverage $$engines --source directed --games 256 --steps 600 --seed 3000000 \
		|| exit; \
	done

# CI=true: an engine that does not start is a failure and no reason to skip. The cache is that of the unchanged programs.
# Some of them: make mutants MUTANTS_FLAGS="--only minibatches-are-not-shuffled"
mutants: $(VENV)/.all ## plant faults outside the engines one by one, and see whether the tests notice
	@if command -v swift >/dev/null; then ./swift-build; fi
	@CI=true HACKMATRIX_BINARY="$${HACKMATRIX_BINARY:-$(CURDIR)/$(SWIFT_BUILD)/release/HackMatrix}" \
		JAX_COMPILATION_CACHE_DIR="$${JAX_COMPILATION_CACHE_DIR:-$(CURDIR)/.cache/jax}" \
		$(RUN) rlparity mutants --tests tests/project/mutants/mutants.toml $(MUTANTS_FLAGS)

# Another agent: make pictures AGENT=checkpoints/RUN/params_100.npz
AGENT ?= $(shell ls -t checkpoints/*/params_*.npz 2>/dev/null | head -n 1)

pictures: $(VENV)/.all ## draw the documents' pictures anew, of the latest agent and of what `make goodharts` left
	@test -n "$(AGENT)" || { echo "There is no agent to draw: run make train first, or name one with AGENT=params_100.npz." >&2; exit 1; }
	@test -f models/goodharts.json || { echo "There is nothing of Goodharts to draw: run make goodharts first." >&2; exit 1; }
	@./swift-build
	@$(VENV)/bin/python studies/site_pictures.py
	@$(VENV)/bin/python studies/watch_pictures.py $(AGENT)
	@$(VENV)/bin/python studies/play_pictures.py $(AGENT)
	@mkdir -p .cache
	@$(RUN) hackmatrix.cli.main view $(dir $(AGENT)) --games 500 --output .cache/page.html
	@$(VENV)/bin/python studies/page_pictures.py .cache/page.html
	@$(VENV)/bin/python studies/goodharts_pictures.py .

engine:
	@if command -v swift >/dev/null; then \
		./swift-build; \
	elif [ "$$CI" = true ]; then \
		echo "No Swift toolchain on the PATH: install Swift 6.2 from https://www.swift.org/install (required where CI=true)." >&2; exit 1; \
	else \
		echo "SKIPPED: no Swift tests, because no Swift toolchain is on the PATH; get Swift 6.2 from https://www.swift.org/install."; \
	fi

# Tests are found by the index of their own modules; to index those of the system costs a tenth of the build.
SWIFT_TEST_FLAGS := -debug-info-format none -Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules

# Beside the tests of Python, which wait for the engine alone.
swift: engine
	@if command -v swift >/dev/null; then \
		swift test --package-path swift --scratch-path $(SWIFT_BUILD) $(SWIFT_TEST_FLAGS) && swift format lint --strict --recursive swift; \
	fi

# Everything that the engine needs, without the symbols. On macOS Swift's libraries are part of the system.
BUNDLE := .build-bundle
BUNDLE_FLAGS := $(if $(filter Darwin,$(shell uname -s)),-Xlinker -x,-Xlinker -s --static-swift-stdlib)

bundle:
	@./swift-build --scratch-path $(BUNDLE) --product HackMatrix $(BUNDLE_FLAGS)

wheel: $(VENV)/pyvenv.cfg ## build the wheels into dist, with the Swift engine inside where there is a toolchain
	@rm -rf dist
	@if command -v swift >/dev/null; then \
		$(MAKE) --no-print-directory bundle && export HACKMATRIX_BUNDLE=$(BUNDLE)/release/HackMatrix || exit; \
	else \
		echo "No Swift toolchain is on the PATH: this wheel will play in JAX only."; \
	fi; \
	$(PIP) wheel --quiet --no-deps --wheel-dir dist $(OWN:%=./%) .
	@ls -l dist

clean: ## remove the environment, builds and caches; keep what training wrote
	rm -rf $(VENV) .build-linux .build-macos $(BUNDLE) swift/.build .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist
	find python parity tests -name __pycache__ -prune -exec rm -rf {} +

# Source edits need no new installation: it is an editable one.
$(VENV)/.core: $(REQUIREMENTS) | $(VENV)/pyvenv.cfg
	@$(call clocked,Installing the core into $(VENV) (one to four minutes the first time)) sh -c '$(call install,.)'
	@touch $@

$(VENV)/.all: $(REQUIREMENTS) | $(VENV)/pyvenv.cfg
	@$(call clocked,Installing every extra into $(VENV) (one to four minutes the first time)) sh -c '$(call install,".[dev]")'
	@touch $(VENV)/.core $(VENV)/.goodharts $@
	@echo "Installed. To use it: source $(VENV)/bin/activate"

$(COMPILERS)/.installed: $(REQUIREMENTS) | $(VENV)/.all
	@rm -rf $(COMPILERS) && mkdir -p $(COMPILERS)
	@$(call clocked,Installing the compilers of accelerators into $(COMPILERS) (530 MB)) $(PIP) install --quiet --no-compile --no-deps --group compilers --target $(COMPILERS)
	@touch $@

$(VENV)/.goodharts: $(REQUIREMENTS) | $(VENV)/pyvenv.cfg
	@$(call clocked,Installing what Goodharts needs into $(VENV) (one to four minutes the first time)) sh -c '$(call install,".[goodharts]")'
	@touch $(VENV)/.core $@

$(VENV)/pyvenv.cfg:
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "There is no $(PYTHON) on the PATH: install Python 3.11 or newer, or name one with PYTHON=/path/to/python3." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is `"$(PYTHON)" -V 2>&1`, but 3.11 or newer is needed: name a newer one with PYTHON=/path/to/python3." >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: install them (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@$(call clocked,Making the environment $(VENV) (half a minute)) "$(PYTHON)" -m venv $(VENV)
	@$(PIP) install --quiet "pip>=26" uv || echo "Going on with the pip that $(PYTHON) brings, which is slower." >&2
