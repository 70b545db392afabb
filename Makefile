# Every target sets up .venv by itself. PYTHON=python3.12 chooses another interpreter.
PYTHON ?= python3
SCALE ?= quick
JOBS ?= 2
FRESH ?=
RUN := .venv/bin/python -m
export PYTHON
ifeq ($(filter reproduce,$(MAKECMDGOALS))$(filter quick paper,$(SCALE)),reproduce)
$(error kernsemble: SCALE is '$(SCALE)'; it must be quick or paper: make reproduce SCALE=quick)
endif
# DVC stages call `python`: the one of .venv.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# One thread for BLAS and OpenMP in each process, and the same kernels of BLAS on every x86-64 processor with AVX2:
# parallelism is over trials, and last digits repeat.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export MKL_NUM_THREADS = 1
ifneq ($(shell test "$$(uname -m)" = x86_64 && grep -qs avx2 /proc/cpuinfo && echo yes),)
export OPENBLAS_CORETYPE = Haswell
endif
export DVC_NO_ANALYTICS = 1

.DEFAULT_GOAL := help
.PHONY: help setup base peers data reproduce test test-site test-faults test-processors matrix nightly sbom audit audit-evidence lint bench site lab lock clean

help:  ## show this list
	@echo "usage: make TARGET [PYTHON=python3.12] [JOBS=2]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 20

setup:
	@./tools/setup

base:
	@./tools/setup reproduce

peers: base  ## add the peers that only races and the atlas at full size fit
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--requirement benchmarks/requirements.txt

data: base  ## fetch the tracked datasets from the in-repository remote and verify them
	@./tools/data

reproduce: base $(if $(FRESH),$(if $(filter paper,$(SCALE)),peers))  ## run the papers' notebooks and check the committed evidence (SCALE=paper FRESH=1: recompute it)
	@KERNSEMBLE_CALLER=$$PPID KERNSEMBLE_JOBS=$(JOBS) KERNSEMBLE_FRESH=$(FRESH) ./tools/reproduce '$(SCALE)' $(if $(FRESH),fresh)

test: setup data lint  ## lint, then unit, property, notebook and repository tests
	@$(RUN) pytest --numprocesses $(JOBS) --dist loadscope

# Real faults and random input, all of it: files of tests that `make test` runs with fewer seeds.
test-faults: export KERNSEMBLE_FAULTS = full
test-faults: setup data  ## every fault, all random input and problems; writes docs/reliability.md (20 minutes)
	@$(RUN) pytest --numprocesses $(JOBS) --dist worksteal --timeout 900 --reliability results/reliability.json \
		tests/faults tests/machinery/test_cluster.py tests/machinery/test_executor.py \
		tests/library/test_streamed_stumps.py tests/library/test_dask_stumps.py tests/library/test_partitioned.py; status=$$?; \
		.venv/bin/python docs/_extensions/reliability_page.py . && exit $$status

matrix: setup data  ## the same trials with the oldest and the newest Python and NumPy that are here
	@.venv/bin/python tools/matrix.py
	@.venv/bin/python docs/_extensions/reliability_page.py .

test-processors: setup data  ## every quick trial under other processors' kernels of OpenBLAS, a sample on emulated ARM64 (half an hour)
	@KERNSEMBLE_JOBS=$(JOBS) .venv/bin/python tools/processors.py

audit-evidence: data  ## compute the oldest 1 % of the adopted rows again (KERNSEMBLE_DATA names the large sets)
	@KERNSEMBLE_JOBS=$(JOBS) .venv/bin/python tools/audit_evidence.py

# Faults are drawn by the date, which is printed: KERNSEMBLE_SEED=20300131 tries them again.
nightly: export KERNSEMBLE_FAULTS = full
nightly: export KERNSEMBLE_SEED ?= $(shell date +%Y%m%d)
nightly: peers audit-evidence test-processors matrix  ## what takes too long for every change: old rows, processors, versions, faults
	@$(RUN) pytest --numprocesses $(JOBS) --dist worksteal --timeout 1800 tests/faults

sbom: setup  ## write the bill of materials of .venv: build/sbom.cdx.json
	@./tools/sbom

audit: setup  ## look for known vulnerabilities of the pinned packages, where a database can be reached
	@.venv/bin/python tools/audit.py; status=$$?; .venv/bin/python docs/_extensions/reliability_page.py . && exit $$status

lint: setup
	@.venv/bin/ruff check --quiet . && .venv/bin/ruff format --quiet --check . \
		|| { echo "kernsemble: see 'ruff check .'; 'ruff format .' mends the layout" >&2; exit 1; }

# Two threads for either side of a race.
bench: export OMP_NUM_THREADS = 2
bench: export OPENBLAS_NUM_THREADS = 2
bench: export MKL_NUM_THREADS = 2
bench: setup peers data  ## race the solvers against their peers on this machine, one after the other (RACES: which)
	@env -u OPENBLAS_CORETYPE .venv/bin/python benchmarks $(RACES)

site: setup  ## build the documentation into docs/_build/html from the committed notebooks
	@rm -rf docs/_api docs/_notebooks
	@$(RUN) sphinx --quiet --fresh-env --write-all --fail-on-warning docs docs/_build/html
	@echo "open docs/_build/html/index.html"

test-site: setup  ## follow every link of the site and open every page in Chromium (Debian: apt install chromium)
	@$(RUN) pytest --quiet tests/site/test_site.py tests/site/test_ledger_pages.py

# In a container LAB_IP=0.0.0.0 lets the host reach it; as root Jupyter has to be told that it may run.
LAB_IP ?= 127.0.0.1
lab: setup data  ## open the notebooks in JupyterLab
	@.venv/bin/jupyter lab --ServerApp.ip=$(LAB_IP) $(if $(filter 0,$(shell id -u)),--allow-root) notebooks

lock: setup  ## pin the newest versions that fit pyproject.toml into requirements.lock
	@./tools/lock --upgrade

clean:  ## remove the environment, caches and quick results; data and committed results stay
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis build docs/_build results/quick
	find src notebooks tools tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
