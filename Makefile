# The goals; `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help tools sim test synth formal coverage mutants gate fpga lint lint-rtl lint-rust format soak axi-peer rails
.PHONY: c cores cpu-peer farm farm-test bench regs docs clean distclean

# Only `tools` may use the network.
OFFLINE := CARGO_NET_OFFLINE=true
CARGO := $(OFFLINE) cargo
OUT ?= out
MACHINE ?=
SEEDS ?= 10
CASES ?= 200
FIRST ?=
BOARD ?= ulx3s

# A machine's test program, its benches, the package of its C library and its folders have the machine's name.
MACHINES := $(filter-out common,$(patsubst c/%/Cargo.toml,%,$(wildcard c/*/Cargo.toml)))
ifneq ($(filter-out $(MACHINES),$(MACHINE)),)
$(error MACHINE=$(MACHINE): no such machine; known: $(MACHINES))
endif

help: ## this list
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12
	@echo 'MACHINE=name names one of: $(MACHINES)'

tools: .tools/stamp ## install the locked tools into .tools/ (the only step that needs the network)

.tools/stamp: tools/requirements.lock tools/install.sh Cargo.lock
	@tools/wait.sh 'installing tools' tools/install.sh

sim: .tools/stamp ## run the papers' experiments; reports and waves in out/ (MACHINE=name for one, ARGS=-v for tables)
	@tools/wait.sh building env $(CARGO) build --package tsunagi
	@$(CARGO) run --quiet -- repro $(MACHINE) --backend both --brief --waves --out $(OUT) $(ARGS)

test: .tools/stamp $(if $(MACHINE),lint-rtl,lint) ## lint, proofs, units, whole paths, criteria (MACHINE=name for one)
ifeq ($(MACHINE),)
	$(CARGO) run --quiet --package rtl-flow -- synth --quick
	$(CARGO) run --quiet --package rtl-flow -- formal --quick
	$(CARGO) run --quiet --package rtl-flow -- junit --out $(OUT)/junit.xml -- cargo test --workspace --no-fail-fast
	@$(CARGO) run --quiet --package rtl-flow -- rails --check
	@echo "make test: lint clean, every test passed"
else
	$(CARGO) test --package tsunagi-harness --package tsunagi --lib --test harness --test $(MACHINE)
	$(CARGO) test --package testbenches --test common --test net --test $(MACHINE)
	$(CARGO) test --package $(MACHINE)-c
	@echo "make test: RTL clean, every test of $(MACHINE) and of its base passed"
endif

synth: .tools/stamp ## area and speed of every unit, compared with the targets and the last recorded results
	$(CARGO) run --quiet --package rtl-flow -- synth --json $(OUT)/synth.json

formal: .tools/stamp ## prove the properties of the RTL, and show that each fails on a broken line
	$(CARGO) run --quiet --package rtl-flow -- formal
	$(CARGO) run --quiet --package rtl-flow -- formal --twins

lint: lint-rtl lint-rust ## all linters, warnings as errors

lint-rtl: .tools/stamp ## Verible lint and format, slang, Verilator -Wall, Yosys check over every unit
	$(CARGO) run --quiet --package rtl-flow -- lint

lint-rust: .tools/stamp ## rustfmt, clippy, rustdoc
	cargo fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings -D clippy::too_many_lines
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps

format: .tools/stamp ## format all sources
	cargo fmt --all
	$(CARGO) run --quiet --package rtl-flow -- lint --fix

gate: .tools/stamp ## run the testbenches on netlists of generic gates and ECP5 cells (ARGS='--unit REGEX' for some)
	$(CARGO) run --quiet --package rtl-flow -- gate $(ARGS)

cores: .tools/stamp .tools/fusesoc/stamp ## lint and build every top from its FuseSoC core (ARGS='--top REGEX' for some)
	$(CARGO) run --quiet --package rtl-flow -- cores $(ARGS)

coverage: .tools/stamp ## list the RTL branches that no testbench takes (ARGS='--lcov FILE' for viewers)
	$(CARGO) run --quiet --package rtl-flow -- coverage $(ARGS)

mutants: .tools/stamp ## change the RTL in small ways, and name the changes that no test notices (ARGS='--count 1000')
	$(CARGO) run --quiet --package rtl-flow -- mutants $(ARGS)

fpga: .tools/stamp ## make a bitstream for BOARD=ulx3s, which must meet its clocks
	$(CARGO) run --quiet --package rtl-flow -- fpga $(BOARD)

soak: .tools/stamp ## random programs under faults, CASES=200 for each machine; then the tests under SEEDS=10 seeds (FIRST=n)
	$(CARGO) run --quiet -- soak $(MACHINE) --seeds $(CASES) --first $(or $(FIRST),$(shell shuf -i 1-999999999 -n 1)) \
		--out $(OUT)/soak
	$(OFFLINE) .tools/venv/bin/python tools/soak.py --seeds $(SEEDS) $(addprefix --first ,$(FIRST)) --out $(OUT)/soak

farm: .tools/stamp ## run seeds and mutants on a Slurm cluster, if there is one (ARGS='submit soak --seeds 10000')
	@$(OFFLINE) .tools/venv/bin/python tools/farm.py $(ARGS)

farm-test: .tools/stamp ## kill nodes of a Slurm cluster on this machine amid a soak; needs root
	$(OFFLINE) .tools/venv/bin/python tools/farm_test.py $(ARGS)

axi-peer: .tools/stamp ## drive the AXI tops with an independent AXI, cocotbext-axi (ARGS='--seed N' repeats a run)
	.tools/venv/bin/python testbenches/axi_peer/run.py --out $(OUT)/axi-peer $(ARGS)

# The peers are in no other tool's environment: this goal alone installs them, from the network.
# Tools of one goal each: fetched when it is made at first.
.tools/cpu-peer/stamp: testbenches/cpu_peer/requirements.lock
.tools/fusesoc/stamp: tools/fusesoc.lock
.tools/cpu-peer/stamp .tools/fusesoc/stamp:
	@python3 -m venv $(@D)
	@$(@D)/bin/python -m pip install --disable-pip-version-check --no-input --quiet --no-deps \
		--only-binary :all: --require-hashes -r $<
	@touch $@

cpu-peer: .tools/cpu-peer/stamp ## the processor against Unicorn, its assembler against Keystone (ARGS='--seed N' repeats)
	$(CARGO) build --quiet --package tsunagi --example r3000_trace --example r3000_asm
	.tools/cpu-peer/bin/python testbenches/cpu_peer/run.py $(ARGS)
	.tools/cpu-peer/bin/python testbenches/cpu_peer/asm.py $(ARGS)

rails: .tools/stamp ## run all other checks on the commit; results in rails.json (ARGS='--stale', '--rail NAME')
	$(CARGO) run --quiet --package rtl-flow -- rails $(ARGS)

bench: .tools/stamp ## speed of the simulation, compared with hand-written C++ on the same models
	$(CARGO) run --quiet -- bench
	$(CARGO) run --quiet --package drive-bench

regs: .tools/stamp ## write the files generated from rtl/*/regs.toml
	$(CARGO) run --quiet --package regs-gen

c: .tools/stamp ## build the C libraries and examples/c into out/c, and name a command for each
	@tools/wait.sh building env $(CARGO) build $(patsubst %,--package %-c,$(MACHINES))
	@tools/c.sh $(OUT)/c

docs: ## write the tables of docs/ and rtl/README.md, and the lists of files for FuseSoC, Bender and Verilator
	$(CARGO) run --quiet --package rtl-flow -- docs

clean: ## remove builds and results
	cargo clean
	rm -rf $(OUT)

distclean: clean ## clean, and remove the tools
	rm -rf .tools
