# Every target does its own set-up: a fresh clone, Python 3.11 or newer, and make are enough.
# The environment is .venv; it is used again, and brought up to date when pyproject.toml or
# constraints.txt change.
#
#   make PYTHON=/path/to/python3     build .venv with this Python
#   make TORCH_INDEX=URL             take torch, and nothing else, from this wheel index
#   make lab ARGS="--no-browser"     pass options on (lab, demo, bench)

SHELL := /bin/sh
PYTHON ?=
TORCH_INDEX ?=
ARGS ?=

PY := .venv/bin/python
READY := .venv/ready
PIP := $(PY) -m pip --disable-pip-version-check -qq install
PYTEST := $(PY) -m pytest
NBVAL := --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg \
	--nbval-cell-timeout 60 -p no:cacheprovider --junitxml .venv/notebooks.xml
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
FRONTEND := ubviz/frontend
MODULES := $(FRONTEND)/node_modules/ready
NPM_RUN := npm --prefix $(FRONTEND) --silent run

.PHONY: help setup lab demo site test in-python in-browser lint frontend widget notebooks test-long bench format clean FORCE
.DEFAULT_GOAL := help

help:
	@echo "make lab        set up, say what this machine offers, open JupyterLab on the first notebook"
	@echo "make demo       set up, run a small model unsplit, split and overlapped, and draw it"
	@echo "make test       set up, then everything that is tested (about 20 minutes on two cores)"
	@echo "make test-long  the tests that take longer"
	@echo "make bench      what recording, import and the timeline cost, against their bounds"
	@echo "make site       the notebooks as pages that work without a kernel, in ubviz-out/site"
	@echo "make widget     build ubviz/static/ anew from ubviz/frontend/src/ (needs Node)"
	@echo "make setup      only the set-up: .venv with everything in it"
	@echo "make format     put the Python sources into their one form"
	@echo "make clean      remove .venv, caches and ubviz-out/"

setup: $(READY)

lab: $(READY)
	@$(PY) -m ubviz doctor
	@$(PY) -m ubviz lab $(ARGS)

demo: $(READY)
	@$(PY) -m ubviz demo $(ARGS)

site: $(READY)
	@$(PY) -m ubviz.course.site notebooks ubviz-out/site

# The browser waits a lot: its tests run beside the others, each kind's output in one piece.
test: lint
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target in-python in-browser frontend notebooks
	@$(PY) -m tests.not_run

in-python: $(READY)
	$(PYTEST) --ignore tests/browser

in-browser: $(READY)
	$(PYTEST) -p no:cacheprovider tests/browser

lint: $(READY)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# The TypeScript side: its types, its own tests, and whether ubviz/static/ is what it builds.
ifeq ($(shell command -v npm 2>/dev/null),)
frontend:
	@echo "Frontend: there is no npm here, so its tests were not run."; test "$$CI" != true
widget:
	@echo "make site       the notebooks as pages that work without a kernel, in ubviz-out/site"
	@echo "make widget needs Node 18 or newer, with npm (Debian, Ubuntu: apt-get install nodejs npm)." >&2; exit 1
else
frontend: $(MODULES)
	$(NPM_RUN) check
	$(NPM_RUN) test
	$(NPM_RUN) compare

widget: $(MODULES)
	$(NPM_RUN) build
endif

$(MODULES): $(FRONTEND)/package-lock.json
	@echo "Set-up: installing what the frontend is built with"
	@cd $(FRONTEND) && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Strict: each cell's output is compared with the stored one.
notebooks: $(READY)
ifeq ($(NOTEBOOKS),)
	@echo "Notebooks: notebooks/ holds none, so nothing was compared."; test "$$CI" != true
else
	PYTHONWARNINGS=ignore $(PYTEST) $(NBVAL) $(NOTEBOOKS)
endif

test-long: $(READY)
	$(PYTEST) -m slow --timeout 3600

bench: $(READY)
	@$(PY) -m tests.bench $(ARGS)

format: $(READY)
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

clean:
	rm -rf $(FRONTEND)/node_modules
	rm -rf .venv ubviz-out build dist ubviz.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# .venv/ready holds the folder it was made for: a copied or moved checkout is set up anew.
ifneq ($(shell [ -x $(PY) ] && cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif

$(READY): pyproject.toml constraints.txt
	@rm -f $(READY)
	@if [ -x $(PY) ] && $(PY) -c "import pip" 2>/dev/null; then echo "Set-up: bringing .venv up to date"; \
	else python=$$($(FIND_PYTHON)) && echo "Set-up: making .venv with $$python" && \
		rm -rf .venv && "$$python" -m venv .venv; fi
	@if [ -n "$(TORCH_INDEX)" ]; then echo "Set-up: torch from $(TORCH_INDEX)"; \
		$(PIP) -c constraints.txt --no-deps --index-url "$(TORCH_INDEX)" torch; fi
	@echo "Set-up: installing ubviz and its extras (the first time takes a few minutes)"
	@$(PIP) -c constraints.txt -e ".[all]"
	@printf '%s\n' "$(CURDIR)" > $(READY)
	@echo "Set-up: done"

# Prints the first Python that is new enough and can make an environment, or says what is missing.
FIND_PYTHON = \
	bare=; \
	for python in $${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do \
		"$$python" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || continue; \
		"$$python" -c "import ensurepip, venv" 2>/dev/null && echo "$$python" && exit; \
		bare=$${bare:-$$python}; \
	done; \
	if [ -n "$$bare" ]; then echo "$$bare -m venv does not work here:" \
		"install it (Debian, Ubuntu: apt-get install python3-venv) and run make again."; \
	else echo "$${PYTHON:-python3} is not Python 3.11 or newer:" \
		"install one, or name it with make PYTHON=/path/to/python3."; fi >&2; \
	exit 1
export PYTHON
