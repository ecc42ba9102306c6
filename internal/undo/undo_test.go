package undo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const testSize = 1000 << 10

// restored opens what m holds and puts it back.
func restored(t *testing.T, m *memory, d *disk) error {
	t.Helper()
	u, err := open("undo", m)
	if err != nil {
		return err
	}
	if err := u.Check([]Target{d}); err != nil {
		return err
	}
	return u.Restore(t.Context(), []Target{d}, nil)
}

// Wherever formatting has stopped, all can be put back, whatever the size of
// the target was before.
func TestRestore(t *testing.T) {
	for _, c := range []struct {
		name string
		size int64
		grow int64
		dev  bool
	}{
		{"device", testSize, 0, true}, {"file", testSize, 0, false},
		{"odd file", testSize - 100, 100, false}, {"grown", 310 << 10, testSize - 310<<10, false},
		{"short", 100, testSize - 100, false}, {"empty", 0, testSize, false}, {"cut", testSize + 5000, -5000, false},
	} {
		for stop := range len(changes) + 1 {
			before := someDisk(c.size, byte(stop))
			before.device = c.dev
			var m memory
			if err := saved(t, before, header(before, c.grow), &m); err != nil {
				t.Fatal(err)
			}
			if c.name == "cut" { // a file that is emptied: all of it is kept
				m = memory{}
				w, err := newWriter("undo", &m, header(before, c.grow))
				if err == nil {
					err = errors.Join(w.Save(t.Context(), 0, before, 0, c.size), w.Finish())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d := before.copyOf()
			if c.grow != 0 {
				d.Truncate(c.size + c.grow)
			}
			format(d, stop)
			if err := restored(t, &m, d); err != nil {
				t.Fatalf("%s, stopped after %d changes: %v", c.name, stop, err)
			}
			if !bytes.Equal(d.data, before.data) {
				t.Errorf("%s, stopped after %d changes: it is not as it was", c.name, stop)
			}
			if err := restored(t, &m, d); err == nil || !strings.Contains(err.Error(), "already") {
				t.Errorf("%s: a second time: %v", c.name, err)
			}
		}
	}
}

// Whatever fails while all is put back, running it again is enough.
func TestEachRestoreFails(t *testing.T) {
	before := someDisk(testSize-77, 3)
	var whole memory
	if err := saved(t, before, header(before, 77), &whole); err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int{0, 2, len(changes)} {
		for _, part := range []string{"target", "file"} {
			for n := 1; ; n++ {
				m, d := &memory{data: bytes.Clone(whole.data)}, before.copyOf()
				d.Truncate(testSize)
				format(d, stop)
				d.ops = 0
				if part == "target" {
					d.failAt = n
				} else {
					m.failAt = n
				}
				err := restored(t, m, d)
				if err == nil {
					if n < 4 {
						t.Errorf("there are only %d things that can fail of the %s", n-1, part)
					}
					break
				}
				if !errors.Is(err, errFails) {
					t.Fatalf("%s: operation %d: %v", part, n, err)
				}
				d.failAt, m.failAt = 0, 0
				err = restored(t, m, d)
				if err != nil && !(part == "file" && strings.Contains(err.Error(), "already")) {
					t.Fatalf("stopped after %d changes, %s: after operation %d has failed: %v", stop, part, n, err)
				}
				if !bytes.Equal(d.data, before.data) {
					t.Fatalf("stopped after %d changes, %s: after operation %d has failed it is not as it was", stop, part, n)
				}
			}
		}
	}
}

// An undo file that could not be finished is of no use, and says so.
func TestEachSaveFails(t *testing.T) {
	d := someDisk(testSize, 5)
	for n := 1; ; n++ {
		m := &memory{failAt: n}
		err := saved(t, d, header(d, 0), m)
		if err == nil {
			if n < 5 {
				t.Errorf("there are only %d things that can fail", n-1)
			}
			break
		}
		if !errors.Is(err, errFails) {
			t.Errorf("operation %d: %v", n, err)
		}
		if u, err := open("undo", m); err == nil && u.State != Saved {
			t.Errorf("operation %d fails, and there is a file in state %v", n, u.State)
		}
	}
}

// Whatever byte of a file is changed, or missing, it is refused.
func TestDamage(t *testing.T) {
	d := someDisk(testSize, 1)
	var m memory
	if err := saved(t, d, header(d, 0), &m); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, data []byte) {
		t.Helper()
		if u, err := open("undo", &memory{data: data}); err == nil {
			t.Errorf("%s: %+v", what, u.Header)
		}
	}
	for at := range m.data {
		if at > 1500 && at%9001 != 0 || at > 600 && at%13 != 0 {
			continue
		}
		bad := bytes.Clone(m.data)
		bad[at] ^= 0x10
		if at >= 16 && at < stateSum {
			continue // nothing is there, and the checksum is over it all the same
		}
		refused(fmt.Sprintf("byte %d", at), bad)
		refused(fmt.Sprintf("cut at %d", at), m.data[:at])
	}
	refused("cut at its end", m.data[:len(m.data)-1])
	// A record that is left out is missed by the count.
	u, err := open("undo", &m)
	if err != nil {
		t.Fatal(err)
	}
	var first int64
	stop := errors.New("stop")
	if err := u.each(func(r record, data []byte) error { first = recordSize + int64(len(data)); return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	refused("a record is left out", slices.Delete(bytes.Clone(m.data), int(u.records), int(u.records+first)))
}

// Zeros take no space in the file.
func TestZerosAreFlags(t *testing.T) {
	d := &disk{data: make([]byte, testSize)}
	var m memory
	if err := saved(t, d, header(d, 0), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.data) > 2000 {
		t.Errorf("%d bytes are kept of nothing", len(m.data))
	}
}

// A target that is another, or has changed since, is refused.
func TestCheck(t *testing.T) {
	before := someDisk(testSize, 2)
	var m memory
	if err := saved(t, before, header(before, 0), &m); err != nil {
		t.Fatal(err)
	}
	u, err := open("undo", &m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		state State
		first []byte // sector
		size  int64
		ok    bool
	}{
		{"as it was", Saved, nil, testSize, true},
		{"as it was, though there should be a filesystem", Made, nil, testSize, false},
		{"zeros", Saved, make([]byte, 512), testSize, true},
		{"zeros, though there should be a filesystem", Made, make([]byte, 512), testSize, false},
		{"in progress", Saved, newSuperblock(1), testSize, true},
		{"in progress again", Undoing, newSuperblock(1), testSize, true},
		{"complete, but no filesystem behind it", Made, newSuperblock(0), testSize, false},
		{"partly undone", Undoing, newSuperblock(0), testSize, true},
		{"almost undone", Undoing, nil, testSize, true},
		{"undone", Undone, nil, testSize, false},
		{"another one without a first sector", Saved, append(make([]byte, 1080), "S\xef"...), testSize, false},
		{"another one now", Undoing, append(make([]byte, 1080), "S\xef"...), testSize, false},
		{"something else", Saved, bytes.Repeat([]byte{1}, 512), testSize, false},
		{"something else now", Undoing, bytes.Repeat([]byte{1}, 512), testSize, false},
		{"longer", Saved, nil, testSize + 512, false},
		{"shorter", Undoing, nil, testSize - 512, false},
	} {
		d := before.copyOf()
		d.Truncate(c.size)
		copy(d.data, c.first)
		u.State = c.state
		if err := u.Check([]Target{d}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := u.Check(nil); err == nil {
		t.Error("no targets are enough")
	}
}

// A file is made only where there is none, and durable when Finish returns.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "undo")
	d := someDisk(testSize, 4)
	w, err := Create(path, header(d, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrUnfinished) && err == nil {
		t.Errorf("opened before it was finished: %v", err)
	}
	if _, err := Create(path, header(d, 0)); err == nil {
		t.Error("made twice")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Save(ctx, 0, d, 0, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := w.Save(t.Context(), 0, d, 0, testSize); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Finish(), w.Mark(Made), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if u.State != Made || u.Records == 0 || u.Data == 0 || u.Data > testSize || u.Devices[0].Before != testSize {
		t.Errorf("%+v", u)
	}
	w, err = Create(path+"2", header(d, 0))
	if err != nil {
		t.Fatal(err)
	}
	w.Remove()
	if _, err := os.Stat(path + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was not removed: %v", err)
	}
}
