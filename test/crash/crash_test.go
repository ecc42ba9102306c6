package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(append([]crash{}, cases...), sampled...) {
		if seen[c.name] && c.size >= 64 {
			t.Errorf("%s is there twice", c.name)
		}
		seen[c.name] = true
		for word := range strings.FieldsSeq(c.work) {
			name, _, _ := strings.Cut(strings.TrimPrefix(word, "&"), "=")
			if _, ok := workloads[name]; !ok && word != "crash" {
				t.Errorf("%s: %q is no workload", c.name, word)
			}
		}
		if _, ok := damages[c.torn]; !ok && c.torn != "" {
			t.Errorf("%s: %q is no damage", c.name, c.torn)
		}
		if c.size == 0 || c.mkfs != strings.TrimSpace(c.mkfs) {
			t.Errorf("%s: size %d, mkfs %q", c.name, c.size, c.mkfs)
		}
	}
}

func TestSparse(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	f, err := os.Create(a)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("some data"), 3<<20)
	f.Truncate(9<<20 + 5)
	f.Close()
	if err := copySparse(a, b); err != nil {
		t.Fatal(err)
	}
	changed := func() (at []int64) {
		err := differences(a, b, 512, func(o int64, _, _ []byte) bool { at = append(at, o); return true })
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := changed(); at != nil {
		t.Errorf("the copy differs at %d", at)
	}
	before, err := sum(b)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = os.OpenFile(b, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("more"), 5<<20+1000)
	f.WriteAt([]byte("!"), 9<<20+4)
	f.Close()
	if at := changed(); len(at) != 2 || at[0] != 5<<20+512 || at[1] != 9<<20 {
		t.Errorf("differences at %d", at)
	}
	if after, _ := sum(b); after == before {
		t.Error("the sum does not see a change")
	}
	if after, _ := sum(b, extent{5 << 20, 6 << 20}, extent{9 << 20, 10 << 20}); after != before {
		t.Error("the sum sees what it is to leave out")
	}
}

func TestDiff(t *testing.T) {
	a := tree{".": "folder", "same": "x", "changed": "x", "gone": "x"}
	b := tree{".": "folder", "same": "x", "changed": "y", "new": "x"}
	if d := diff(a, a); d != "" {
		t.Errorf("a tree differs from itself: %s", d)
	}
	d := diff(a, b)
	for _, want := range []string{"3 paths", `"changed": y, not x`, `"gone": nothing, not x`, `"new": x, not nothing`} {
		if !strings.Contains(d, want) {
			t.Errorf("%q is not in %q", want, d)
		}
	}
}

// Records that are not where they say they are come from before.
func TestRecords(t *testing.T) {
	log := make([]byte, 64<<10)
	put := func(block int, lsn uint64, length, size uint32) {
		h := log[block*512:]
		binary.BigEndian.PutUint32(h, 0xfeedbabe)
		binary.BigEndian.PutUint32(h[4:], uint32(lsn>>32))
		binary.BigEndian.PutUint32(h[12:], length)
		binary.BigEndian.PutUint64(h[16:], lsn)
		binary.BigEndian.PutUint32(h[320:], size)
	}
	put(0, 2<<32, 1024, 32<<10)
	put(10, 1<<32|10, 512, 256<<10)
	put(50, 1<<32|49, 512, 32<<10)
	all := records(log)
	if len(all) != 2 || all[0].header != 10*512 || all[0].data != 18*512 || all[1].data != 512 || all[1].end != 3*512 {
		t.Errorf("%+v", all)
	}
}

func TestChangeTimes(t *testing.T) {
	l := layout{inode: 512}
	a := make([]byte, 1024)
	copy(a, "IN")
	copy(a[512:], "IN")
	for at, want := range map[int]bool{512 + 50: true, 512 + 102: true, 512 + 47: false, 512 + 200: false} {
		b := append([]byte{}, a...)
		b[at] = 1
		if changeTimes(l, a, b) != want {
			t.Errorf("byte %d: %v", at, !want)
		}
	}
}
