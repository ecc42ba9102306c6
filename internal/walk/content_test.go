package walk

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHoles has files with holes in all places, among them small ones and blocks of zeros that are
// data, beside what the host says.
func TestHoles(t *testing.T) {
	m := newMaker(t)
	make := func(name string, size int64, at ...int64) {
		f, err := os.Create(m.path(name))
		m.do(err)
		for _, off := range at {
			_, err := f.WriteAt([]byte("data"), off)
			m.do(err)
		}
		m.do(f.Truncate(size))
		m.do(f.Close())
	}
	make("none", 100<<10)
	make("small hole", 5)
	make("front", 20000, 16384)
	make("front, full at its end", 20000, 16384, 19990)
	make("end", 20000, 0)
	make("middle", 1<<20, 0, 512<<10, 1<<20-10)
	make("many", 4<<20, 0, 64<<10, 128<<10, 192<<10, 1<<20, 3<<20)
	make("huge", 1<<40, 1<<30, 1<<39)
	m.file("zeros", bytes.Repeat([]byte{0}, 9000))
	list, surveyed := m.open(), m.survey()
	for _, f := range list[1:] {
		file, err := os.Open(f.path)
		m.do(err)
		var want [][2]int64
		stored := int64(0)
		for off := int64(0); ; {
			start, err := unix.Seek(int(file.Fd()), off, unix.SEEK_DATA)
			if err != nil {
				break
			}
			off, err = unix.Seek(int(file.Fd()), start, unix.SEEK_HOLE)
			m.do(err)
			want = append(want, [2]int64{start, off})
			stored += (off+4095)/4096*4096 - start
		}
		file.Close()
		if fmt.Sprint(f.pieces) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", f.Name, f.pieces, want)
		}
		if s := find(t, surveyed, f.Name); s.Stored != stored || s.Pieces != len(want) {
			t.Errorf("%s: %d bytes stored in %d pieces, want %d in %d", f.Name, s.Stored, s.Pieces, stored, len(want))
		}
		if f.Size < 8<<20 {
			if data, _ := os.ReadFile(f.path); !bytes.Equal(f.data, data) {
				t.Errorf("%s: other data", f.Name)
			}
		}
	}
}

func TestDense(t *testing.T) {
	for n := 1; n < 3*unit; n += 7 {
		p := pattern(n)
		if !dense(p) {
			t.Errorf("%d bytes: not dense", n)
		}
		last := (n - 1) / unit * unit
		clear(p[last:])
		if dense(p) {
			t.Errorf("%d bytes, zeros from %d on: dense", n, last)
		}
		p[n-1] = 1
		if first := p[:min(n-1, unit)]; n > unit {
			saved := bytes.Clone(first)
			clear(first)
			if dense(p) {
				t.Errorf("%d bytes, a sector of zeros in front: dense", n)
			}
			copy(first, saved)
		}
		if !dense(p) {
			t.Errorf("%d bytes, all but the last zeros: not dense", n)
		}
	}
}

// TestSeveralGoes has more data than a batch has memory for, and more large files than it keeps open.
func TestSeveralGoes(t *testing.T) {
	m := &maker{t, inMemory(t)}
	for i := range 200 {
		m.file(fmt.Sprint(i), append(pattern(50000+i%4*10000), fmt.Sprint(i)...))
		m.file(fmt.Sprint("large", i), append(pattern(100000), fmt.Sprint("large", i)...))
	}
	tr := New(m.dir, Options{})
	var count sync.Mutex
	most := 0
	tr.host = &between{linux{}, func(call, name string) error {
		if call == "open" {
			count.Lock()
			defer count.Unlock()
			most = max(most, openFiles(t))
		}
		return nil
	}}
	list, err := take(tr.Open(t.Context()))
	m.do(err)
	for _, f := range list[1:] {
		if !bytes.HasSuffix(f.data, []byte(f.Name)) || int64(len(f.data)) != f.Size {
			t.Errorf("%s: %d bytes that end with %q", f.Name, len(f.data), f.data[len(f.data)-3:])
		}
	}
	if most > batches*batchFiles+20 {
		t.Errorf("%d files are open at once", most)
	}
}
