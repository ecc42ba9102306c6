package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// load is a source of -p that is measured, and the goals beside others.
type load struct {
	name   string
	make   func(b *bench, dir string) error // in a folder on tmpfs; nil for path
	path   func() (string, error)           // of what is there already
	size   int64                            // of the image
	beside []rival
}

// rival is who a load is measured beside, and how many times as fast ours is to be.
type rival struct {
	name string
	goal float64 // 0 for none
	// script is run by a shell with $0 for the source and $1 for the image; "" is the reference. $MKFS is our program.
	script string
	root   bool
	needs  string // a program
}

var (
	reference = func(goal float64) rival { return rival{name: "mkfs.xfs -p", goal: goal} }
	tar       = rival{name: "tar -c piped to cat", goal: 1 / 1.6, script: `tar -c -C "$0" . | cat >/dev/null`, needs: "tar"}
	dd        = rival{name: "dd bs=1M oflag=direct", goal: 0.9, needs: "dd",
		script: `for f in "$0"/*; do dd if="$f" of="$1" bs=1M oflag=direct conv=notrunc,fsync status=none; done`}
	copied = rival{name: "loop mount and cp -a", goal: 8, root: true, needs: "losetup",
		script: `set -e; d=$(mktemp -d); trap 'rmdir $d' EXIT; "$MKFS" -q -f "$1"; mount -o loop "$1" $d; cp -a "$0/." $d || e=1; umount $d; exit ${e:-0}`}
	mke2fs = rival{name: "mke2fs -d", needs: "mke2fs", script: `mke2fs -q -F -d "$0" "$1"`}
)

// loads are those of the table of goals. In a quick run they are smaller.
func (b *bench) loads() []load {
	many := func(dirs, files int) func(*bench, string) error {
		return func(_ *bench, dir string) error { return smallFiles(dir, dirs, files) }
	}
	each := pick(b, []int{25_000, 100_000, 5_000}, []int{500, 2_000, 500})
	list := []load{
		{name: fmt.Sprintf("4 directories of %d five-byte files", each[0]), make: many(4, each[0]), size: 64 * gib,
			beside: []rival{reference(4), tar, copied}},
		{name: fmt.Sprintf("4 directories of %d five-byte files", each[2]), make: many(4, each[2]), size: 64 * gib,
			beside: []rival{mke2fs}}, // whose time grows with the square
		{name: fmt.Sprintf("4 directories of %d five-byte files", each[1]), make: many(4, each[1]), size: 64 * gib,
			beside: []rival{reference(4), tar, copied}},
		{name: "the Go installation", path: goRoot, size: 64 * gib, beside: []rival{reference(3), tar, copied}},
	}
	n := pick(b, 1_000_000, 5_000)
	large := pick[int64](b, 4*gib, 64*mib) // source and image are on tmpfs together
	pieces := pick(b, 10_000, 500)
	return append(list,
		load{name: fmt.Sprintf("one directory of %d entries", n), make: many(1, n), size: 64 * gib, beside: []rival{reference(4)}},
		load{name: fmt.Sprintf("a tree of %d files", n), make: many(1000, n/1000), size: 64 * gib, beside: []rival{reference(4)}},
		load{name: fmt.Sprintf("one file of %d MiB", large/mib), size: 64 * gib, beside: []rival{dd, reference(3)},
			make: func(_ *bench, dir string) error { return pieceFile(filepath.Join(dir, "large"), large, 1, large) }},
		load{name: fmt.Sprintf("a sparse file of 1 TiB with %d pieces", pieces), size: 2 * tib, beside: []rival{reference(3)},
			make: func(_ *bench, dir string) error { return pieceFile(filepath.Join(dir, "sparse"), tib, pieces, 4096) }},
	)
}

// populateSection measures -p, with sources on tmpfs and targets on tmpfs and on disk.
func populateSection(ctx context.Context, b *bench) error {
	if !b.haveReference() {
		return skip("no reference: %v does not run", b.reference)
	}
	moreFiles()
	if err := os.Setenv("MKFS", b.mkfs); err != nil {
		return err
	}
	for _, l := range b.loads() {
		if err := b.populate(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

func (b *bench) populate(ctx context.Context, l load) error {
	src := filepath.Join(b.shm, "bench-source")
	defer os.RemoveAll(src)
	switch {
	case l.path != nil:
		from, err := l.path()
		if err != nil {
			fmt.Printf("No %s: %v.\n\n", l.name, err)
			return nil
		}
		if _, err := command("cp", "-a", from, src); err != nil {
			return err
		}
	default:
		if err := os.Mkdir(src, 0o755); err != nil {
			return err
		}
		if err := l.make(b, src); err != nil {
			return err
		}
	}
	fmt.Printf("### %s\n\n", l.name)
	for _, dir := range []string{b.shm, b.dir} {
		if err := b.populateOn(ctx, l, src, dir); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) populateOn(ctx context.Context, l load, src, dir string) error {
	b.settle(ctx)
	list := []contender{{name: "mkfs -p", argv: []string{b.mkfs, "-q", "-f", "-p", src}}}
	var beside []rival
	for _, r := range l.beside {
		switch {
		case r.script == "":
			list = append(list, contender{name: r.name, argv: b.theirs("-f", "-p", src).argv})
		case r.root && os.Geteuid() != 0:
			continue
		default:
			if _, err := exec.LookPath(r.needs); err != nil {
				continue
			}
			list = append(list, contender{name: r.name, argv: []string{"sh", "-c", r.script, src}})
		}
		beside = append(beside, r)
	}
	samples, peaks, err := course{dir: dir, size: l.size, rounds: min(b.rounds, 3)}.race(ctx, list)
	if err != nil {
		return err
	}
	t := newTable(filesystem(dir), "times as fast", "range", "times less CPU", "memory", "goal")
	for i, r := range beside {
		faster := pairs(samples[0], samples[i+1], rateOf)
		goal := ""
		if r.goal > 0 {
			goal = fmt.Sprintf("%s: %s", times(r.goal), met(median(faster) >= r.goal))
		}
		t.row(r.name, times(median(faster)), spread(faster), times(median(pairs(samples[i+1], samples[0], cpuOf))),
			fmt.Sprintf("%d MiB to %d MiB", peaks[0]>>20, peaks[i+1]>>20), goal)
	}
	t.print()
	fmt.Println()
	return nil
}

// moreFiles lets the reference open as many files as there may be: it closes none of its directories before the end.
func moreFiles() {
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // only root may
}

func goRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
}

func smallFiles(dir string, dirs, files int) error {
	for d := range dirs {
		at := filepath.Join(dir, fmt.Sprint("directory", d))
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		for f := range files {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprint("file", f)), []byte("five\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// pieceFile makes a file with pieces of so many bytes all over it.
func pieceFile(path string, size int64, pieces int, bytes int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	step := size / int64(pieces) &^ 4095
	b := make([]byte, min(bytes, mib))
	for i := range b {
		b[i] = byte(i*7 + i>>9)
	}
	for i := range int64(pieces) {
		for done := int64(0); done < bytes; done += int64(len(b)) {
			if _, err := f.WriteAt(b, i*step+done); err != nil {
				return err
			}
		}
	}
	return f.Truncate(size)
}
