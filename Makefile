# `make` alone says what there is.

OUT ?= .
CARGO_TARGET_DIR ?= target
# rustup's folder is in the PATH only of shells started after its installation.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

.PHONY: help
help:
	@echo 'make run     install what is missing, build, probe every device of every driver;'
	@echo '             leaves report.json, its results and report.html in OUT (default: the current folder)'
	@echo 'make test    install what the tests need (Debian 12), run all of them'
	@echo 'make test-quick  what a developer runs often: units, tables and judging, and one run on real drivers'
	@echo 'make soak    kill workers and supervisors SOAK_KILLS times (default 1000), compare the reports'
	@echo 'make soak-daemon  a daemon whose processes are killed for SOAK_KILL_SECONDS (default 120); one that measures'
	@echo '             SOAK_SECONDS (default 3600) long, memory and descriptors counted'
	@echo 'make bench   one table of what runs, reports, the store and sweeps take, on drivers of known versions'
	@echo 'make test-pages  the pages of a default run on four drivers in a browser: widths, accessibility, size, print'
	@echo 'make fuzz    hostile input for everything that is read from files, FUZZ_SECONDS (60) each;'
	@echo '             leaves input that fails in FUZZ_OUT (default: target/fuzz/failures)'
	@echo 'make test-slurm  the prolog, the epilog and a sweep by an array, on a Slurm of four nodes on this machine (root)'
	@echo 'make test-object-store  results that are sent to an S3, which fails in many ways'
	@echo 'make test-aarch64  the program for aarch64 Linux, compiled and tried out here, executed by QEMU'
	@echo 'make deb     the Debian package, tried out in a fresh Debian (root, debootstrap)'
	@echo 'make check   format, lints, documentation, licences and sources of dependencies'
	@echo 'make clean   remove what was built'

# The exit status of the probe is a result, not an accident: it is named and passed on.
.PHONY: run
run:
	@.ci/install run
	cargo build --release --locked -p fpprobe
	@status=0; \
	"$(CARGO_TARGET_DIR)/release/fpprobe" run -o "$(OUT)" || status=$$?; \
	case $$status in \
	    0) echo 'make run: the reports are $(OUT)/report.json and $(OUT)/report.html' ;; \
	    3) echo 'make run: a requirement is not met (status 3); the reports in $(OUT) say which' ;; \
	    4) echo 'make run: nothing could be measured (status 4); `fpprobe doctor` says why' ;; \
	    5) echo 'make run: incomplete (status 5): a device or kernel crashed, hung or was lost; the reports in $(OUT) hold the rest' ;; \
	    *) echo "make run: fpprobe failed (status $$status)" ;; \
	esac >&2; \
	exit $$status

.PHONY: test
test:
	@.ci/install test
	@.ci/drivers
	cargo test --workspace --locked --no-fail-fast

# Three minutes when warm; the tests that it leaves out are those of `make test`.
.PHONY: test-quick
test-quick:
	@.ci/install test
	@.ci/drivers
	cargo test --workspace --locked --lib --test documents --test packaging
	cargo test --workspace --locked --test all -- catalogue:: accepted_sets:: profile_errors:: judging::
	cargo test --workspace --locked --test cli -- run::

.PHONY: soak
soak:
	@.ci/install test
	@.ci/drivers
	cargo test --workspace --locked --test soak

.PHONY: soak-daemon
soak-daemon:
	@.ci/install test
	@.ci/drivers
	cargo test --workspace --locked --test daemon-soak

.PHONY: test-slurm
test-slurm:
	@.ci/install slurm
	@.ci/drivers
	cargo build --workspace --locked
	probe/tests/slurm/check "$(CARGO_TARGET_DIR)/debug/fpprobe" "$(CARGO_TARGET_DIR)/debug/libfpprobe_fault_layer.so"

.PHONY: test-object-store
test-object-store:
	@.ci/install object-store
	@.ci/drivers
	cargo test --workspace --locked --features fpprobe/object-store --test object-store

.PHONY: test-aarch64
test-aarch64:
	@.ci/install aarch64
	cargo build --workspace --locked
	.ci/aarch64 "$(CARGO_TARGET_DIR)/debug/fpprobe"

# The drivers that need no newer C library than Debian 12's.
PAGE_DRIVERS := lavapipe-22 lavapipe-25 swiftshader mock
.PHONY: test-pages
test-pages: export VK_DRIVER_FILES = $(subst $() ,:,$(PAGE_DRIVERS:%=$(CURDIR)/target/drivers/%.json))
test-pages:
	@.ci/install test
	@.ci/drivers
	cargo build --release --locked -p fpprobe
	"$(CARGO_TARGET_DIR)/release/fpprobe" run --no-keep -o target/pages || [ $$? = 5 ]
	FPPROBE_REPORT="$(CURDIR)/target/pages/report.json" \
	    cargo test --locked -p fpprobe-reports --test all -- --ignored --nocapture default_run

.PHONY: bench
bench:
	@.ci/install test
	@.ci/drivers
	cargo bench --locked -p fpprobe --bench table

.PHONY: fuzz
fuzz:
	@.ci/install fuzz
	@reports/fuzz/run

.PHONY: deb
deb:
	@.ci/install deb
	probe/packaging/deb/check "$$(probe/packaging/deb/build | tail -n 1)"

.PHONY: check
check:
	@.ci/install check
	cargo fmt --all --check
	rustfmt --check --edition 2024 reports/fuzz/targets/*.rs
	cargo metadata --locked --format-version=1 --manifest-path reports/fuzz/Cargo.toml >/dev/null
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked
	cargo deny --locked check licenses bans sources

.PHONY: clean
clean:
	cargo clean
