# Everything needs only Python 3.11 or newer and the package index.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

PO := $(wildcard src/cuecard/locale/*/LC_MESSAGES/*.po)

.DEFAULT_GOAL := help
.PHONY: help run demo install dev test renew pictures check-pictures lint format types i18n docs screenshots bench wheel-check clean

help:  ## say what there is
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

run: install  ## open the app on ./cuecard.db
	@$(BIN)/cuecard

demo: install  ## play, judge and score every sample task with the offline baselines
	@$(BIN)/cuecard demo

install: $(VENV)/.installed $(PO:.po=.mo)  ## what the app needs

dev: $(VENV)/.dev $(PO:.po=.mo)  ## what tests and linters need

# Without compiled files every worker and every program that tests start compiles everything anew. Explaining what failed takes
# code of its own in every test, which each worker makes anew: that is left to the second run.
test: dev  ## the whole test suite
	@$(BIN)/python -m compileall -q -j 2 src tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 4 --dist worksteal --assert plain || { [ $$? -eq 1 ] && \
		echo "What failed beside other tests is run once more, alone." && \
		PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --last-failed --last-failed-no-failures none; }

renew: dev  ## write the goldens of the command line anew; look at what `git diff` says of them
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/tui/commands/test_goldens.py -n 3 --dist load --renew

pictures: dev  ## take every picture of screens anew (tests/pictures), and make a page of them; look at `git diff` and at the page
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/tui/test_pictures.py::test_pictures -n 3 --dist load --all-pictures --renew
	$(BIN)/python scripts/pictures.py

check-pictures: dev  ## take every picture of screens and name those that look otherwise than in tests/pictures; writes nothing
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/tui/test_pictures.py -n 3 --dist load --all-pictures

lint: dev  ## style, types, layers, figures of the structure
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright
	$(BIN)/basedpyright -p bench
	$(BIN)/python scripts/structure.py

format: dev  ## rewrite the code in house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

i18n: dev  ## bring the catalogues up to date with the code
	$(BIN)/python scripts/i18n.py

docs: dev  ## write the pages that are made from the program: docs/cli.md, docs/keys.md, docs/lint.md, docs/qc.md
	$(BIN)/python scripts/cli_page.py
	$(BIN)/python scripts/keys_page.py
	$(BIN)/python scripts/lint_page.py
	$(BIN)/python scripts/qc_page.py

screenshots: dev  ## docs/screenshots/*.svg from the real app
	$(BIN)/python scripts/screenshots.py

bench: dev  ## start-up beside a bare Textual app; the grid beside a DataTable; the engine beside a bare loop
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/grid.py
	$(BIN)/python bench/engine.py

wheel-check: dev  ## build the wheel from the tree and from the source distribution, compare, install it alone, run the demo
	bash scripts/wheel_check.sh

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis $(PO:.po=.mo)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Cuecard needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -U 'pip>=25.1'

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Cuecard into $(VENV) (once)…"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Cuecard and its tools into $(VENV) (once)…"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e . --group dev
	@touch $@ $(VENV)/.installed

%.mo: %.po scripts/msgfmt.py | $(VENV)/bin/python
	@$(BIN)/python scripts/msgfmt.py
