package delwri

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestFirstErrorHasPlace(t *testing.T) {
	names := []string{"superblock", "AGF", "AGI", "AGFL", "bnobt", "cntbt", "inobt"}
	for seed := range uint64(50) {
		bad := int64(seed) * 997 % (8 * 7 * 512)
		m := newModel(8*7*512, 3, seed)
		m.badByte = bad
		l := NewList(m, Config{Device: "/dev/sdb"})
		for ag := range int64(8) {
			for i, name := range names {
				off := (ag*7 + int64(i)) * 512
				l.Add(&Buffer{Off: off, Data: block(1, 512), Place: Place{ag, name}})
			}
		}
		err := l.Submit()
		want := &WriteError{Device: "/dev/sdb", Off: bad, Err: syscall.EIO,
			Place: Place{bad / 512 / 7, names[bad/512%7]}}
		var e *WriteError
		if !errors.As(err, &e) || *e != *want || !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v, want %v", err, want)
		}
		text := fmt.Sprintf("write /dev/sdb: AG %d %s at byte %d: input/output error", e.Place.AG, e.Place.Name, bad)
		if err.Error() != text {
			t.Errorf("%q, want %q", err, text)
		}
	}
}

// After the first error nothing further is issued, all that is in flight is
// waited for, and the list is empty.
func TestStopAtError(t *testing.T) {
	m := newModel(1<<20, 4, 7)
	m.badByte = 10 * 1024
	l := NewList(m, Config{})
	for i := range int64(500) {
		l.Add(&Buffer{Off: i * 1024, Data: block(1, 512)})
	}
	ierr := l.Issue()
	werr := l.Wait()
	if ierr == nil || ierr != werr {
		t.Errorf("Issue %v, Wait %v", ierr, werr)
	}
	if len(m.held) != 0 || m.count != len(m.log) {
		t.Errorf("%d taken, %d done", len(m.log), m.count)
	}
	if len(m.log) > 100 {
		t.Errorf("%d of 500 requests issued, the 11th failed", len(m.log))
	}
	if l.queued != 0 || l.due != 0 || l.flying != 0 || len(l.batches) != 0 || l.queue.next != &l.queue {
		t.Error("not empty after an error")
	}

	// Usable again over a Writer that is.
	m.badByte, m.first, m.told = -1, nil, false
	l.Add(&Buffer{Off: 0, Data: block(8, 512)})
	must(t, l.Submit())
	if m.disk[0] != 8 {
		t.Error("not written")
	}
}

// An error without a place of its own gets that of its request; one that
// lies elsewhere gets none; a Writer that refuses at once is reported too.
func TestErrorPlaces(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		err  error
		want string
	}{
		{boom, "write img: AG 1 AGF at byte 4096: boom"},
		{&offError{4700, boom}, "write img: AG 1 AGI at byte 4700: boom"},
		{&offError{99, boom}, "write img: at byte 99: boom"},
		{&offError{5120, boom}, "write img: at byte 5120: boom"},
		{&offError{-1, boom}, "write img: boom"},
	} {
		m := newModel(1<<16, 4, 1)
		m.first = c.err // refuse all
		l := NewList(m, Config{Device: "img"})
		l.Add(&Buffer{Off: 4096, Data: block(1, 512), Place: Place{1, "AGF"}})
		l.Add(&Buffer{Off: 4608, Data: block(1, 512), Place: Place{1, "AGI"}})
		err := l.Submit()
		if err == nil || err.Error() != c.want || !errors.Is(err, boom) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	if s := (&WriteError{Off: 5, Place: Place{-1, "log"}, Err: boom}).Error(); s != "write: log at byte 5: boom" {
		t.Error(s)
	}
	if s := (Place{AG: 2}).String(); s != "AG 2" {
		t.Error(s)
	}
}

// A Writer whose Reap fails although our requests went well belongs to
// somebody who failed: no success is reported.
func TestWriterFailedElsewhere(t *testing.T) {
	m := newModel(1<<16, 4, 1)
	l := NewList(m, Config{})
	l.Add(&Buffer{Off: 0, Data: block(1, 512)})
	must(t, l.Issue())
	m.first = &offError{1 << 30, syscall.EIO}
	if err := l.Wait(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}
