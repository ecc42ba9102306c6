GO      ?= go
GOFLAGS += -trimpath
export CGO_ENABLED = 0

# Where make install puts things. The mkfs of util-linux, which calls mkfs.TYPE, has
# the same name: NAME gives ours another, and MKFS_XFS=yes makes it mkfs.xfs too.
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
DATADIR  ?= $(PREFIX)/share
NAME     ?= mkfs
MKFS_XFS ?=
# What writes the manual page and completions: another one than ./mkfs if that is for another machine.
RUN      ?= ./mkfs

# What comparisons and judges take: mkfs.xfs and xfs_repair of xfsprogs 7.2.0.
REFERENCE ?= mkfs.xfs
REPAIR    ?= xfs_repair
# Options of make bench and make compare: -quick, -only tmpfs,small, -svg FILE; -n 2000, -seed 1, -loop.
BENCH     ?=
COMPARE   ?=

.PHONY: help build install test check fmt vet lint race judge compare bench bench-micro fuzz man clean
.DEFAULT_GOAL := build

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

build: ## one static binary, ./mkfs
	$(GO) build $(GOFLAGS) -o mkfs ./cmd/mkfs

# It builds only if there is no ./mkfs, so that root needs no Go. Pages come first: if they
# cannot be made nothing is installed.
install: $(if $(wildcard mkfs),,build) ## ./mkfs, manual page and completions, below DESTDIR, PREFIX (BINDIR, DATADIR), by NAME; MKFS_XFS=yes
	@rm -rf .stage && mkdir .stage && ln -s "$$(realpath $(RUN))" .stage/$(NAME)
	.stage/$(NAME) man >.stage/page
	@for shell in bash zsh fish; do .stage/$(NAME) completion $$shell >.stage/$$shell || exit 1; done
	install -D -m 755 mkfs $(DESTDIR)$(BINDIR)/$(NAME)
	install -D -m 644 .stage/page $(DESTDIR)$(DATADIR)/man/man8/$(NAME).8
	install -D -m 644 .stage/bash $(DESTDIR)$(DATADIR)/bash-completion/completions/$(NAME)
	install -D -m 644 .stage/zsh $(DESTDIR)$(DATADIR)/zsh/site-functions/_$(NAME)
	install -D -m 644 .stage/fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/$(NAME).fish
	install -D -m 644 LICENSE $(DESTDIR)$(DATADIR)/doc/$(NAME)/LICENSE
	@rm -rf .stage
	[ -z "$(MKFS_XFS)" ] || ln -sf $(NAME) $(DESTDIR)$(BINDIR)/mkfs.xfs
	[ -z "$(MKFS_XFS)" ] || ln -sf $(NAME).8 $(DESTDIR)$(DATADIR)/man/man8/mkfs.xfs.8

test: ## all tests; needs no root, no network beyond Go modules, no xfsprogs
	$(GO) test -timeout 20m ./...

check: fmt vet lint race ## formatting, go vet, staticcheck, and all tests under the race detector

fmt:
	@out=$$(gofmt -l cmd internal test); [ -z "$$out" ] || { echo "gofmt -w: $$out"; exit 1; }

vet:
	$(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

race: ## all tests under the race detector, which needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

judge: build ## as root: the kernel and REPAIR look at what mkfs and mkfs recover make
	test/judge ./mkfs "$(REPAIR)"
	$(GO) run ./test/crash -quick -mkfs ./mkfs -repair "$(REPAIR)"

compare: build ## random command lines for ./mkfs and REFERENCE: same decisions, tables and bytes
	$(GO) run ./test/random -mkfs ./mkfs -reference "$(REFERENCE)" $(COMPARE)

bench: build ## beside REFERENCE, a bare loop and fio; parts of it need root
	$(GO) run ./test/bench -mkfs ./mkfs -reference "$(REFERENCE)" $(BENCH)

bench-micro: ## building AGs, queueing and writing them
	$(GO) test -run '^$$' -bench . ./internal/...

# How long make fuzz runs each fuzzer.
FUZZTIME ?= 1m

fuzz: ## every fuzzer there is, one after the other, FUZZTIME each
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
	rm -rf mkfs mkfs.8 .stage
