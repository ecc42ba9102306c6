package walk

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"mkfs/internal/tree"
)

// TestMemory walks 80,000 entries, which must take no more memory than a few.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 80,000 names")
	}
	m := &maker{t, inMemory(t)}
	m.file("0", []byte("x"))
	m.do(os.Chmod(m.path("0"), 0o600))
	const names = 80000
	for d := range 4 {
		m.mkdir(fmt.Sprint("d", d))
		for i := range names / 4 {
			m.do(os.Link(m.path("0"), m.path(fmt.Sprintf("d%d/%d", d, i)))) // quicker than files
		}
	}
	for _, survey := range []bool{true, false} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tr := New(m.dir, Options{})
		open := tr.Open
		if survey {
			open = func(ctx context.Context) (tree.Source, error) { return tr.Survey(ctx, 4096, nil) }
		}
		s, err := open(t.Context())
		m.do(err)
		n := 0
		for ; err == nil; n++ {
			_, err = s.Next()
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		m.do(s.Close())
		most := uint64(12 << 20)
		if survey {
			most += memoryRoom
		}
		if n != names+7 {
			t.Errorf("%d calls", n)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
			t.Errorf("survey %v: %d bytes taken in all, want %d", survey, taken, most)
		}
		if objects := after.Mallocs - before.Mallocs; objects > 2000 {
			t.Errorf("survey %v: %d allocations", survey, objects)
		}
	}
}
