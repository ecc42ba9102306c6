GO      ?= go
GOFLAGS += -trimpath
export CGO_ENABLED = 0

# What make bench compares with, and its options: -quick, -only tmpfs,small, -svg FILE...
REFERENCE ?= mkfs.xfs
BENCH     ?=

.PHONY: build test check fmt vet lint race bench bench-micro fuzz man clean

build: ## one static binary, ./mkfs
	$(GO) build $(GOFLAGS) -o mkfs ./cmd/mkfs

test: ## needs no root, no network beyond Go modules, no xfsprogs
	$(GO) test ./...

check: fmt vet lint race

fmt:
	@out=$$(gofmt -l cmd internal test); [ -z "$$out" ] || { echo "gofmt -w: $$out"; exit 1; }

vet:
	$(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

race: ## needs a C compiler, as the race detector does
	CGO_ENABLED=1 $(GO) test -race ./...

bench: build ## beside $(REFERENCE), a bare loop and fio; parts of it need root
	$(GO) run ./test/bench -mkfs ./mkfs -reference "$(REFERENCE)" $(BENCH)

bench-micro: ## building AGs, queueing and writing them
	$(GO) test -run '^$$' -bench . ./internal/...

# How long make fuzz runs each fuzzer.
FUZZTIME ?= 1m

fuzz: ## every fuzzer there is, one after the other
	@set -e; \
	for file in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd internal test); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$file); do \
			echo "$$(dirname $$file) $$name"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file); \
		done; \
	done

man: ## the manual page, ./mkfs.8, from the tables of options
	$(GO) run ./cmd/mkfs man >mkfs.8

clean:
	rm -f mkfs mkfs.8
