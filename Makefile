# A thin front on the CMake presets. `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := build
.SUFFIXES:
.PHONY: build demo check check-long rooms formatted fuzz bench asan install-deps format tidy clean help

JOBS ?= $(shell nproc)
TEST_JOBS ?= 2

# $(call build_preset,PRESET,groups of packages beyond build,further arguments of cmake --build)
# Ninja reruns CMake itself when a CMakeLists.txt changes; only a changed preset needs a push.
define build_preset
@scripts/install_deps build $(2)
@[[ build/$(1)/build.ninja -nt CMakePresets.json ]] || { cmake --preset $(1) && touch build/$(1)/build.ninja; }
@cmake --build --preset $(1) -j $(JOBS) $(3)
endef

build: ## the library, the tool and the tests (default)
	$(call build_preset,release)

demo: ## train on the embedded digits, evaluate, say where the report is
	$(call build_preset,release,,--target harmonium_cli)
	@scripts/demo

check: rooms formatted ## everything that must pass: rooms, formatting, tests, fuzzers
	$(call build_preset,release,test)
	@rm -f build/release/ctest.xml
	ctest --preset release -j $(TEST_JOBS) --output-junit ctest.xml
	@$(MAKE) --no-print-directory fuzz

check-long: check ## the slow forms: every header alone, the torch-only build, storms of kills and failing calls, 60 random settings of real-valued models, long fuzzing
	scripts/check_headers
	$(call build_preset,torch-only,test)
	ctest --test-dir build/torch-only -j $(TEST_JOBS) --output-on-failure
	tests/hostile/kill_storm build/release/harmonium --kills 400
	tests/hostile/failing_calls build/release/harmonium --most 10
	LONG_TESTS=1 build/release/tests/families_test --gtest_filter='ModelsOfRealValues.*'
	FUZZ_RUNS=1000000 tests/fuzz/run build/fuzz

formatted: ## clang-format would change nothing
	@scripts/install_deps develop
	@git ls-files -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -r clang-format --dry-run --Werror

rooms: ## rooms of the house include only what they may
	@scripts/check_rooms

fuzz: ## build the parsers' fuzzers and run each for a short, fixed count
	$(call build_preset,release,,--target harmonium)
	$(call build_preset,fuzz,test)
	tests/fuzz/run build/fuzz

bench: ## time the hot paths against a reference measured in the same run
	$(call build_preset,release,bench,--target harmonium_bench harmonium_microbench)
	bench/run

asan: ## the tests under the address and undefined-behaviour sanitizers
	$(call build_preset,debug-asan,test)
	ctest --preset debug-asan -j $(TEST_JOBS)

install-deps: ## install the Debian packages that are missing
	@scripts/install_deps build test bench

format: ## clang-format over every source
	@scripts/install_deps develop
	@git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -r clang-format -i

tidy: ## clang-tidy over every source, or FILES="a.cpp b.cpp"
	@scripts/install_deps build develop
	@scripts/tidy $(FILES)

clean: ## remove what was built; runs/ stays
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
