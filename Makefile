# What a developer types. CI runs `make test` and `make proof`.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:

# The card of `make review`.
CARD ?= tachion-400
# Seconds for which `make blackbox` begins lives, and `make proof` does.
BLACKBOX_SECONDS ?= 600
SHORT_BLACKBOX_SECONDS ?= 120
# How long `make soak` lets cards live.
SOAK ?= 30m
# Lives of `make proof`: within the redundancy, beyond it, and of owners of a shared array.
PROOF_LIVES ?= 4000
PROOF_LIVES_BEYOND ?= 2500
PROOF_TAKEOVERS ?= 20000
# Seconds for each fuzz target: `make proof`, `make fuzz`.
SHORT_FUZZ_SECONDS ?= 10
FUZZ_SECONDS ?= 600
# Bytes that each parser of the wire is given at least by `make proof` and `make fuzz`.
FUZZ_BYTES ?= 1000000000
# Where `make install` puts the command, its man pages and its completions.
PREFIX ?= /usr/local

BUILD := $(or $(CARGO_TARGET_DIR),target)
# For work; and what is installed and measured, which takes four times as long to build.
FLASHRIG := $(BUILD)/release/flashrig
DIST := $(BUILD)/dist/flashrig
# The target of the static build, and the size that it may have.
STATIC := $(shell uname -m)-unknown-linux-musl
MAX_DIST_BYTES := 15000000
# Where packages are made.
RELEASE := $(BUILD)/release-files
TEST_LOG := $(BUILD)/test.log
PROOF_LOG := $(BUILD)/proof.log

# $(call install,Debian packages): installs them, by lists that are an hour old at most. `s` is what makes one root.
LISTED := $(BUILD)/packages-listed
install = { [ -n "$$(find $(LISTED) -mmin -60 2>/dev/null)" ] || { $$s apt-get update -qq && mkdir -p $(BUILD) && touch $(LISTED); }; } && \
	$$s apt-get install -y -qq --no-install-recommends $(1)
# $(call need,command,Debian package): installs the package where the command is missing.
need = command -v $(1) >/dev/null || { s=; [ $$(id -u) = 0 ] || s=sudo; $(call install,$(2)); }
# A kernel for guests. They have initial file systems of their own, and that of this machine takes half a minute to make.
kernel = ls /boot/vmlinuz-*-amd64 >/dev/null 2>&1 || { s=; [ $$(id -u) = 0 ] || s=sudo; s="$$s env INITRD=No"; \
	$(call install,linux-image-amd64); }
# PostgreSQL, of any version that Debian has, without the cluster that its package makes by default.
postgresql = ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { s=; [ $$(id -u) = 0 ] || s=sudo; \
	$$s mkdir -p /etc/postgresql-common; \
	echo 'create_main_cluster = false' | $$s tee /etc/postgresql-common/createcluster.conf >/dev/null; \
	$(call install,postgresql); }
# MariaDB and sysbench. Reviews run a server of their own, beside whatever the package has started.
mysql = command -v sysbench >/dev/null && ls /usr/sbin/mariadbd >/dev/null 2>&1 || { s=; [ $$(id -u) = 0 ] || s=sudo; \
	$(call install,mariadb-server sysbench); }
# $(call component,command,component): a part of the Rust toolchain.
component = cargo $(1) --version >/dev/null 2>&1 || rustup component add $(2)
# Fuzz targets are built like a release, by a compiler that libFuzzer can follow.
FUZZ_TARGETS := $(filter-out fuzz,$(shell sed -n 's/^name = "\(.*\)"/\1/p' fuzz/Cargo.toml))

# Python's packages for the wheel and its tests, in an environment of their own.
VENV := $(abspath $(BUILD))/venv
WHEELS := $(abspath $(BUILD))/wheels
MATURIN = cd python && CARGO_TARGET_DIR=$(abspath $(BUILD)) $(VENV)/bin/maturin build --locked --out $(WHEELS)
MAX_WHEEL_BYTES := 12000000
# The processors and the C library of `make wheels`: zig links against that of 2018 whatever this machine has.
WHEEL_TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
WHEEL_SYSTEM := manylinux_2_28

.PHONY: help
help:
	@echo 'make review              review a card: make review CARD=iodrive-160-slc'
	@echo 'make test                format, lints, tests'
	@echo 'make proof               all else that must pass: lives with every fault, planted bugs,'
	@echo '                         published tables, fuzzing, slow tests'
	@echo 'make same-figures        a hundred commands: their figures are what they were'
	@echo 'make bench               benchmarks, by the clock'
	@echo 'make bench-drive         the I/O engine against fio and sysbench'
	@echo 'make bench-serve         served cards against other NBD servers'
	@echo 'make bench-clients       many clients of a card in files against qemu-nbd'
	@echo 'make bench-nvme          CPU for a request over NVMe/TCP against NBD'
	@echo 'make bench-array         a card on an array against the raw disk, or drives'
	@echo 'make bench-array-full    a chart of the latency of a full card over MINUTES=10'
	@echo 'make bench-starts        starts after kills in a rebuild and in a start'
	@echo 'make bench-postgres-mix  PostgreSQL: served flash against served disks'
	@echo 'make bench-postgres-array PostgreSQL on an array against the raw file system'
	@echo 'make bench-postgres-slob the SLOB method: two served cards, this disk'
	@echo 'make bench-postgres-cuts power cuts under PostgreSQL, and a card that lies'
	@echo 'make bench-fit           hidden cards, reviewed with noise, and fitted'
	@echo 'make bench-own-disk      this disk reviewed and fitted, and what its twin predicts'
	@echo 'make bench-instructions  instructions for each simulated request (callgrind)'
	@echo 'make lives               thousands of simulated lives of cards, with every fault'
	@echo 'make canaries            bugs are planted one at a time, and must be found'
	@echo 'make blackbox            cards broken from outside: kills, a lossy file system, damage'
	@echo 'make outside             python-proof, blackbox-short and all guests, two at a time (QEMU)'
	@echo 'make guest-cuts          power cuts of a guest whose card lies on drives (QEMU)'
	@echo 'make guest-purge         NVMe drives that are emptied by Format, and refused (QEMU)'
	@echo 'make guest-nvme          a Linux host on a card over NVMe/TCP: resets, losses (QEMU)'
	@echo 'make guest-failover      a Linux host over two controllers of a card: takeovers (QEMU)'
	@echo 'make guest-turns         two Linux hosts take turns with a database on one card (QEMU)'
	@echo 'make guest-ublk          cards as disks of a Linux guest: kills under XFS (QEMU); make bench-ublk: speed'
	@echo 'make soak                tests of minutes, and such lives for SOAK=$(SOAK); adds to docs/soak-ledger.md'
	@echo 'make fuzz                every fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make readme              renew the output that README.md and docs show'
	@echo 'make picture             renew the picture that README.md shows'
	@echo 'make wheel               the Python package in $(BUILD)/wheels, for this machine'
	@echo 'make wheels              the same for others: x86_64 and aarch64, glibc 2.28 (zig)'
	@echo 'make python              its tests; make python-proof: Ray and notebooks'
	@echo 'make dist                one static file with its contents and checksums in $(RELEASE)'
	@echo 'make deb                 a Debian package in $(RELEASE)'
	@echo 'make deb-check           it is installed and removed in a fresh Debian, which boots a card (root)'
	@echo 'make install             the command and its pages under PREFIX=$(PREFIX)'

.PHONY: review
review: release
	$(FLASHRIG) review $(CARD) --out $(BUILD)/$(CARD)

.PHONY: release
release:
	@$(call need,cc,gcc libc6-dev)
	cargo build --release --locked --bin flashrig

# The command as it is installed here, packed and measured.
.PHONY: native
native:
	@$(call need,cc,gcc libc6-dev)
	cargo build --profile dist --locked --bin flashrig

# One file that runs on any Linux of this processor, with what it contains and checksums.
.PHONY: dist
dist:
	@$(call need,musl-gcc,musl-tools)
	@$(call need,python3,python3)
	rustup target add $(STATIC)
	CC_$(subst -,_,$(STATIC))=musl-gcc cargo build --profile dist --locked --bin flashrig --target $(STATIC)
	packaging/build-static.sh $(BUILD)/$(STATIC)/dist/flashrig $(STATIC) $(MAX_DIST_BYTES) $(RELEASE)

.PHONY: test
test: tools format lint unit python

.PHONY: proof
proof: tools postgresql mysql lives validate canaries slow same-in-debug-and-release outside fuzz-short summary

# Has the release build's crates, which `make proof` needs anyway: pyo3 and one more link come to it.
.PHONY: wheel
wheel: $(VENV)/ready
	@$(call need,cc,gcc libc6-dev)
	rm -rf $(WHEELS)
	$(MATURIN) --release --interpreter $(VENV)/bin/python
	python/tools/check_wheels.py $(MAX_WHEEL_BYTES) $(WHEELS)/*.whl

# For others: each processor has a build of its own, which takes minutes.
.PHONY: wheels
wheels: $(VENV)/ready
	rustup target add $(WHEEL_TARGETS)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check 'ziglang>=0.15'
	rm -rf $(WHEELS)
	for target in $(WHEEL_TARGETS); do \
		(export PATH="$(VENV)/bin:$$PATH"; $(MATURIN) --release --zig --compatibility $(WHEEL_SYSTEM) --target $$target); \
	done
	python/tools/check_wheels.py $(MAX_WHEEL_BYTES) $(WHEELS)/*.whl

.PHONY: python
python: wheel release
	@$(call need,fio,fio)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(WHEELS)/*.whl
	FLASHRIG=$(abspath $(FLASHRIG)) $(VENV)/bin/pytest python/tests

# A build with bugs that FLASHRIG_CANARY plants, beside the package: a life of a card with one fails on a cluster.
PLANTED := $(abspath $(BUILD))/planted
.PHONY: planted
planted: $(VENV)/ready
	rm -rf $(PLANTED)
	cd python && CARGO_TARGET_DIR=$(abspath $(BUILD)) $(VENV)/bin/maturin build --locked --out $(PLANTED) --release \
		--features pyo3/extension-module,canaries --interpreter $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $(PLANTED)/package $(PLANTED)/*.whl

# A cluster of Ray on this machine, and notebooks.
.PHONY: python-proof
python-proof: wheel release planted
	@$(call need,fio,fio)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check fio-plot ipykernel matplotlib nbclient pyarrow ray
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(WHEELS)/*.whl
	FLASHRIG=$(abspath $(FLASHRIG)) FLASHRIG_PLANTED=$(PLANTED)/package $(VENV)/bin/pytest -m proof --durations=5 python/tests

$(VENV)/ready: python/pyproject.toml Makefile
	@python3 -c 'import ensurepip, venv' 2>/dev/null || { $(call need,no-venv,python3-venv) }
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' mypy pandas pytest six typing_extensions
	@touch $@

.PHONY: tools
tools:
	@$(call need,cc,gcc libc6-dev)
	@$(call need,chromium,chromium)
	@$(call need,fio,fio)
	@$(call need,mkfs.xfs,xfsprogs)
	@$(call need,mkfs.ext4,e2fsprogs)
	@$(call need,nbdinfo,libnbd-bin)
	@$(call need,nbdsh,python3-libnbd)
	@$(call need,qemu-img,qemu-utils)
	@$(call need,openssl,openssl)
	@$(call component,fmt,rustfmt)
	@$(call component,clippy,clippy)

.PHONY: postgresql
postgresql:
	@$(postgresql)

.PHONY: mysql
mysql:
	@$(mysql)

.PHONY: format
format:
	cargo fmt --all --check

# Planted bugs are linted with all else: what is compiled without them is four functions that do nothing.
PLANTS := --features torture/canaries,files/canaries,session/canaries
.PHONY: lint
lint:
	@$(call need,c++,g++)
	cargo clippy --workspace --all-targets $(PLANTS) --locked -- -D warnings

# The packages whose tests take longest, here and in `make slow`: they begin first.
LONGEST := torture,cli,study,target,ftl,report,database,serve
# $(call tests,options of the test programs,log): the counts are printed even when tests fail, as the closing lines are the
# first thing to look at.
define tests
	@$(call need,python3,python3)
	@ok=0; .ci/tests.py $(2) $(LONGEST) $(1) || ok=1; \
	echo 'slowest tests, seconds:'; \
	sed -n 's/^test \(.*\) \.\.\. .*<\([0-9.]*\)s>$$/\2 \1/p' $(2) | sort -rn | sed -n 1,10p; \
	$(MAKE) --no-print-directory summary LOGS=$(2); exit $$ok
endef

.PHONY: unit
unit:
	$(call tests,,$(TEST_LOG))

# Tests that take longer than ten seconds: each says why. What they run is the release build, as reviews are long. Those with
# `soak_` in their names take minutes, and have others of their kind beside them: `make soak` runs them.
.PHONY: slow
slow: export FLASHRIG := $(abspath $(FLASHRIG))
slow: release
	$(call tests,--ignored --skip soak_,$(PROOF_LOG))

# Owners of a shared card that are killed, stopped, cut off and ended, so many times, under load: ROUNDS=100 takes ten minutes.
ROUNDS ?= 7
.PHONY: takeovers
takeovers: release
	FLASHRIG=$(abspath $(FLASHRIG)) ROUNDS=$(ROUNDS) cargo test --package flashrig --test it --locked -- --ignored --nocapture \
		whatever_becomes_of_the_owner

# Prints each planted bug, by what it was found, and after how many cuts and lives. One build has them all. Their tests have
# `planted` in their names: others of these programs must not run while a bug is planted.
.PHONY: canaries
canaries:
	cargo test $(PLANTS) --locked --test canaries --test takeover_canaries -- --nocapture planted

# What meets cards from outside in `make proof`, two at a time: each waits for long times. Each says what it has to say when
# it is done. The controllers of guest-failover give modules up that are silent for a second: it has no builds beside it.
OUTSIDE := python-proof blackbox-short guest-cuts guest-nvme guest-turns guest-ublk guest-failover
.PHONY: outside
outside: release postgresql guest-tools
	@printf '%s\n' $(OUTSIDE) | xargs -P 2 -I {} bash -c 'log=$$(mktemp); trap "cat $$log; rm -f $$log" EXIT; \
		$(MAKE) --no-print-directory {} >$$log 2>&1'

# What guests need is installed here, as only one installation can be under way.
.PHONY: guest-tools
guest-tools:
	@$(call need,qemu-system-x86_64,qemu-system-x86) || true
	@PATH="$$PATH:/usr/sbin:/sbin"; $(call need,cpio,cpio); $(call need,nbd-client,nbd-client); $(call need,nvme,nvme-cli); \
		$(call need,fio,fio); $(call need,mkfs.xfs,xfsprogs); [ -x /bin/busybox ] || { $(call need,busybox,busybox-static); }; \
		$(kernel)

# Power cuts of a guest under emulation, on drives with logical blocks of 512 and of 4,096 bytes: two minutes on two cores.
.PHONY: guest-cuts
guest-cuts: release
	@$(call need,qemu-system-x86_64,qemu-system-x86)
	@$(call need,cpio,cpio)
	@PATH="$$PATH:/usr/sbin:/sbin"; $(call need,nbd-client,nbd-client)
	@test -x /bin/busybox || { $(call need,busybox,busybox-static) }
	@$(kernel)
	benches/guest-power-cuts.py --flashrig $(FLASHRIG) --cuts 2

# NVMe drives under emulation: some two minutes on two cores.
.PHONY: guest-purge
guest-purge: release
	@$(call need,qemu-system-x86_64,qemu-system-x86)
	@PATH="$$PATH:/usr/sbin:/sbin"; $(call need,cpio,cpio); $(call need,smartctl,smartmontools)
	@test -x /bin/busybox || { $(call need,busybox,busybox-static) }
	@$(kernel)
	benches/guest-purge.py --flashrig $(FLASHRIG)

# A Linux host under emulation: some four minutes on two cores. It is skipped, aloud, where QEMU can't be had.
.PHONY: guest-nvme
guest-nvme: release
	@if $(call need,qemu-system-x86_64,qemu-system-x86); then \
		PATH="$$PATH:/usr/sbin:/sbin"; $(call need,cpio,cpio); $(call need,nvme,nvme-cli); $(call need,fio,fio); \
		[ -x /bin/busybox ] || { $(call need,busybox,busybox-static); }; \
		$(kernel); \
		benches/guest-nvme.py --flashrig $(FLASHRIG); \
	else \
		echo 'SKIPPED guest-nvme: no qemu-system-x86_64 (package qemu-system-x86): no Linux host was tried'; \
	fi

# Disks by ublk in a guest with Debian's newest backported kernel, which is fetched once: some four minutes on two cores. It
# is skipped, aloud, where QEMU or such a kernel can't be had.
UBLK_PART ?= behaviour
.PHONY: guest-ublk
guest-ublk: release
	@if $(call need,qemu-system-x86_64,qemu-system-x86); then \
		PATH="$$PATH:/usr/sbin:/sbin"; $(call need,cpio,cpio); $(call need,fio,fio); $(call need,mkfs.xfs,xfsprogs); \
		$(call need,nbd-client,nbd-client); [ -x /bin/busybox ] || { $(call need,busybox,busybox-static); }; \
		benches/guest-ublk.py --flashrig $(FLASHRIG) --kernels $(BUILD)/guest-kernel --part $(UBLK_PART); \
	else \
		echo 'SKIPPED guest-ublk: no qemu-system-x86_64 (package qemu-system-x86): no disk by ublk was tried'; \
	fi

# Against NBD and FUSE in such a guest: five minutes.
.PHONY: bench-ublk
bench-ublk:
	@$(MAKE) --no-print-directory guest-ublk UBLK_PART=speed

# What a guest that is an NVMe host with XFS is made of.
linux_host = PATH="$$PATH:/usr/sbin:/sbin"; $(call need,cpio,cpio); $(call need,nvme,nvme-cli); \
	$(call need,mkfs.xfs,xfsprogs); [ -x /bin/busybox ] || { $(call need,busybox,busybox-static); }; \
	$(kernel)

# A Linux host over two controllers of one card, under emulation: some four minutes on two cores.
.PHONY: guest-failover
guest-failover: release
	@if $(call need,qemu-system-x86_64,qemu-system-x86); then \
		$(linux_host); $(call need,fio,fio); benches/guest-failover.py --flashrig $(FLASHRIG); \
	else \
		echo 'SKIPPED guest-failover: no qemu-system-x86_64 (package qemu-system-x86): no Linux host was tried'; \
	fi

# Two Linux hosts that take turns with one PostgreSQL on one card: a minute on two cores.
.PHONY: guest-turns
guest-turns: release postgresql
	@if $(call need,qemu-system-x86_64,qemu-system-x86); then \
		$(linux_host); benches/guest-turns.py --flashrig $(FLASHRIG); \
	else \
		echo 'SKIPPED guest-turns: no qemu-system-x86_64 (package qemu-system-x86): no Linux host was tried'; \
	fi

# Exit code 1 when a card lies, or breaks within what parity stands for: blackbox/run.py. Needs root and /dev/fuse.
.PHONY: blackbox
blackbox: release
	@$(call need,python3,python3)
	blackbox/run.py --flashrig $(FLASHRIG) --seconds $(BLACKBOX_SECONDS)

.PHONY: blackbox-short
blackbox-short:
	@$(MAKE) --no-print-directory blackbox BLACKBOX_SECONDS=$(SHORT_BLACKBOX_SECONDS)

# Exit code 1 when the model misses a bound.
.PHONY: validate
validate: release
	$(FLASHRIG) validate

# Exit code 1 when a card breaks its promise, a fault struck fewer than a hundred times, or never during something that
# cards do. The same lives each time.
.PHONY: lives
lives: release
	$(FLASHRIG) torture --lives $(PROOF_LIVES) --require-coverage 100
	$(FLASHRIG) torture --lives $(PROOF_LIVES_BEYOND) --beyond
	$(FLASHRIG) torture --takeovers --lives $(PROOF_TAKEOVERS) --require-coverage 10

.PHONY: fuzz-short
fuzz-short:
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(SHORT_FUZZ_SECONDS)

.PHONY: fuzz
fuzz:
	@$(call need,c++,g++)
	RUSTC_WORKSPACE_WRAPPER=$(abspath fuzz/rustc) cargo build --release --locked --package fuzz
	@printf '%s\n' $(FUZZ_TARGETS) | xargs -P 2 -I {} $(MAKE) --no-print-directory fuzz-one TARGET={}

# One target, and all that it says when it is done: two run side by side. The parsers of the wire go on until they were given
# so many bytes, which they count (fuzz_targets/counted.rs). Memory that an input has used is kept for the next one: page
# faults took two thirds of the time.
.PHONY: fuzz-one
fuzz-one:
	@seeds=; [ $(TARGET) != import ] || seeds=crates/import/tests/fixtures; wanted=0; parsed=0; \
	case $(TARGET) in nbd | nvme | initiator) wanted=$(FUZZ_BYTES);; esac; \
	echo "fuzz $(TARGET) for $(FUZZ_SECONDS) s$$([ $$wanted = 0 ] || echo " and $$wanted bytes")"; \
	mkdir -p fuzz/corpus/$(TARGET) fuzz/artifacts/$(TARGET); log=$$(mktemp); trap 'rm -f $$log' EXIT; \
	while :; do \
		MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=1000000000 $(BUILD)/release/$(TARGET) fuzz/corpus/$(TARGET) $$seeds -artifact_prefix=fuzz/artifacts/$(TARGET)/ \
			-max_total_time=$(FUZZ_SECONDS) -max_len=16384 -verbosity=0 -print_final_stats=1 >$$log 2>&1 \
			|| { echo "fuzz $(TARGET):"; cat $$log; exit 1; }; \
		more=$$(sed -n 's/^parsed \([0-9]*\) bytes$$/\1/p' $$log | tail -n 1); parsed=$$((parsed + $${more:-0})); \
		[ $$parsed -lt $$wanted ] || break; \
		[ -n "$$more" ] || { echo "fuzz $(TARGET) does not count what it parses:"; cat $$log; exit 1; }; \
	done; \
	echo "fuzz $(TARGET), done$$([ $$wanted = 0 ] || echo ": more than $$parsed bytes parsed")"; grep '^stat::' $$log

# The same seed gives the same figures in a debug and in a release build.
SAME := run tachion-400 --load rndrw --scale 1/256 --fsync-freq 10 --explain-tail --requests 20000 --json -
SAME_DATABASE := run sas-raid10-6 --load oltp --requests 20000 --json -
.PHONY: same-in-debug-and-release
same-in-debug-and-release: release
	cargo test --tests --locked --no-run --quiet
	@for what in '$(SAME)' '$(SAME_DATABASE)'; do \
		for build in debug release; do \
			$(BUILD)/$$build/flashrig $$what | grep -v wall_seconds > $(BUILD)/same-$$build.json; \
		done; \
		[ -s $(BUILD)/same-debug.json ]; \
		cmp $(BUILD)/same-debug.json $(BUILD)/same-release.json; \
	done
	@echo 'debug and release builds give the same JSON'

# Exit code 1 when a command that is the same as before has other figures: benches/same-figures.sh.
.PHONY: same-figures
same-figures: release
	rm -rf $(BUILD)/same-figures
	benches/same-figures.sh $(FLASHRIG) $(BUILD)/same-figures benches/figures.sha256

LOGS := $(TEST_LOG) $(PROOF_LOG)
.PHONY: summary
summary:
	@for log in $(LOGS); do \
		[ -e $$log ] || continue; \
		grep '^test result:' $$log || true; \
		awk -v what=$$(basename $$log .log) '/^test result:/ { passed += $$4; failed += $$6; skipped += $$8 } \
			END { printf "make %s: %d passed, %d failed, %d skipped\n", what, passed, failed, skipped }' $$log; \
	done

# The picture of README.md: the first screen of a real page. Keeps it small enough for a clone.
PICTURE_OF ?= tachion-400
.PHONY: picture
picture: release
	@$(call need,chromium,chromium)
	@$(call need,cwebp,webp)
	$(FLASHRIG) review $(PICTURE_OF) --out $(abspath $(BUILD))/picture
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 --force-device-scale-factor=1 \
		--virtual-time-budget=3000 --screenshot=$(abspath $(BUILD))/picture.png file://$(abspath $(BUILD))/picture.html
	cwebp -quiet -q 82 $(BUILD)/picture.png -o docs/review.webp

# Writes what the commands print now into README.md and the pages of examples.
.PHONY: readme
readme: release
	RENEW_README=1 FLASHRIG=$(abspath $(FLASHRIG)) cargo test --package flashrig --test it readme::

.PHONY: soak
soak: release
	@$(call need,jq,jq)
	FLASHRIG=$(abspath $(FLASHRIG)) cargo test --tests --locked -- --ignored soak_
	benches/soak.sh $(FLASHRIG) $(SOAK) docs/soak-ledger.md

.PHONY: bench
bench: native
	cargo bench --profile dist --locked
	$(DIST) run $(CARD) --load rndwr --block 4k --requests 2000000
	$(DIST) run $(CARD) --load rndrd --block 4k --requests 2000000

# Takes twelve minutes, on a machine that does nothing else. The file is removed afterwards.
.PHONY: bench-drive
bench-drive:
	@$(call need,fio,fio)
	@$(call need,sysbench,sysbench)
	@$(call need,jq,jq)
	@mkdir -p $(BUILD)/bench-drive
	benches/against-fio.sh $(BUILD)/bench-drive/test_file.0
	rm -r $(BUILD)/bench-drive

# Takes five minutes, on a machine that does nothing else.
.PHONY: bench-serve
bench-serve: native
	@$(call need,fio,fio)
	@$(call need,jq,jq)
	@$(call need,nbdkit,nbdkit)
	@$(call need,qemu-nbd,qemu-utils)
	benches/serve-against-nbd-servers.sh $(DIST)

# Takes three minutes, on a disk that does nothing else, with room for 6 GB.
.PHONY: bench-clients
bench-clients: native
	@$(call need,fio,fio)
	@$(call need,jq,jq)
	@$(call need,qemu-nbd,qemu-utils)
	benches/many-clients.sh $(BUILD)/bench-clients $(DIST)

# Takes three minutes, on a machine that does nothing else. Exit code 1 when a request over NVMe takes more than 1.2 times
# the CPU of one over NBD.
.PHONY: bench-nvme
bench-nvme: native
	@$(call need,cc,gcc libc6-dev)
	cargo build --profile dist --locked --package serve --example load
	benches/nvme-against-nbd.sh $(DIST) $(BUILD)/dist/examples/load

# Takes some twenty minutes, on a disk that does nothing else, with room for two and a half times SIZE beside 2 GB.
# DRIVES=/dev/disk/by-id/A,... DESTROY_DATA=yes puts the modules on drives: whatever lies on these is destroyed.
ARRAY ?= $(BUILD)/bench-array
RUNS ?= 5
SECONDS ?= 3
CELLS ?= *
WAYS ?= nbd,in-process
.PHONY: bench-array
bench-array:
	@$(call need,cc,gcc libc6-dev)
	@$(call need,fio,fio)
	@$(call need,python3,python3)
	cargo build --profile dist --locked --package flashrig --bin flashrig --example in_process
	benches/array-against-raw.py $(ARRAY) --flashrig $(DIST) --runs $(RUNS) --seconds $(SECONDS) --cells '$(CELLS)' \
		--ways $(WAYS) $(if $(SIZE),--size $(SIZE)) $(if $(SHARDS),--shards $(SHARDS)) $(if $(DRIVES),--drives $(DRIVES) $(if $(DESTROY_DATA),--destroy-data))

MINUTES ?= 10
DEPTH ?= 16
.PHONY: bench-array-full
bench-array-full: native
	@$(call need,fio,fio)
	@$(call need,python3,python3)
	benches/array-against-raw.py $(ARRAY) --flashrig $(DIST) --ways nbd --minutes $(MINUTES) --depth $(DEPTH) \
		$(if $(SIZE),--size $(SIZE)) $(if $(SHARDS),--shards $(SHARDS)) \
		$(if $(DRIVES),--drives $(DRIVES) $(if $(DESTROY_DATA),--destroy-data))

ROUNDS ?= 100
.PHONY: bench-starts
bench-starts: native
	@$(call need,fio,fio)
	@$(call need,python3,python3)
	benches/starts-after-kills.py $(BUILD)/bench-starts --flashrig $(DIST) --rounds $(ROUNDS) \
		$(if $(SIZE),--size $(SIZE)) $(if $(SHARDS),--shards $(SHARDS))

# Each takes 10 to 20 minutes and root, on a machine that does nothing else, and keeps results, logs and a page in a folder
# of its name below POSTGRES, which must not be there.
POSTGRES ?= $(BUILD)
.PHONY: bench-postgres-mix bench-postgres-array bench-postgres-slob bench-postgres-cuts
bench-postgres-mix bench-postgres-array bench-postgres-slob bench-postgres-cuts: native
	@$(postgresql)
	@$(call need,mkfs.xfs,xfsprogs)
	@$(call need,jq,jq)
	benches/$(@:bench-%=%).sh $(POSTGRES)/$@ $(DIST)

# Some ten minutes, on a disk that does nothing else.
.PHONY: bench-own-disk
bench-own-disk: native
	@$(call need,fio,fio)
	@$(call need,jq,jq)
	benches/own-disk.sh $(BUILD)/own-disk $(DIST)

# Takes half a minute to some minutes for each card.
CARDS ?= 20
.PHONY: bench-fit
bench-fit:
	@$(call need,cc,gcc libc6-dev)
	cargo run --profile dist --locked --package study --example round_trip -- $(CARDS)

# Does not depend on the machine's mood, as the clock does. callgrind finds the function to count by its symbol.
REQUESTS := 200000
.PHONY: bench-instructions
bench-instructions:
	@$(call need,cc,gcc libc6-dev)
	@$(call need,valgrind,valgrind)
	CARGO_PROFILE_DIST_STRIP=false cargo build --profile dist --locked --package target --example instructions
	@for mode in rndwr rndrd; do \
		valgrind --tool=callgrind --toggle-collect='*measured*' --callgrind-out-file=$(BUILD)/callgrind.$$mode.out \
			$(BUILD)/dist/examples/instructions $$mode $(REQUESTS) 2>&1 >/dev/null \
		| awk -v mode=$$mode '/Collected *:/ { printf "%s: %.0f instructions for each simulated request\n", mode, $$NF / $(REQUESTS); found = 1 } \
			END { exit !found }'; \
	done

.PHONY: install
install: native
	install -D -m 755 $(DIST) $(DESTDIR)$(PREFIX)/bin/flashrig
	$(DIST) man --out $(BUILD)/man
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(BUILD)/man/*.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(DIST) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/flashrig
	$(DIST) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_flashrig
	$(DIST) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/flashrig.fish

# The command, man pages, completions, cards and the unit that serves a card from boot on.
.PHONY: deb
deb: native
	@$(call need,dpkg-shlibdeps,dpkg-dev)
	@$(call need,python3,python3)
	@mkdir -p $(RELEASE)
	packaging/sbom.py $$(rustc -vV | sed -n 's/^host: //p') $$(git rev-parse HEAD 2>/dev/null) > $(BUILD)/deb.cdx.json
	packaging/build-deb.sh $(DIST) $(BUILD)/deb.cdx.json $(RELEASE)

# Takes some minutes and a mirror of Debian.
.PHONY: deb-check
deb-check: deb
	@$(call need,lintian,lintian)
	@PATH="$$PATH:/usr/sbin"; $(call need,debootstrap,debootstrap)
	@$(call need,systemd-nspawn,systemd-container)
	PATH="$$PATH:/usr/sbin" packaging/check-deb.sh $$(ls -t $(RELEASE)/flashrig_*.deb | sed -n 1p)
