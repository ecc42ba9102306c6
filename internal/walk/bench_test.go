package walk

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"mkfs/internal/tree"
)

// drain takes all entries and their data, and counts the entries.
func drain(tb testing.TB, s tree.Source, err error) int {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	buffer := make([]byte, 1<<20)
	for n := 0; ; n++ {
		e, err := s.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			tb.Fatal(err)
		}
		if e.Data != nil {
			p := buffer[:min(e.Size, int64(len(buffer)))]
			if err := e.Data.ReadAt(p, 0); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// BenchmarkWalk walks 100,000 files of 5 bytes in 4 directories. WALK_DIR walks another directory.
func BenchmarkWalk(b *testing.B) {
	dir := os.Getenv("WALK_DIR")
	if dir == "" {
		dir = inMemory(b)
		for i := range 100000 {
			name := filepath.Join(dir, strconv.Itoa(i%4), strconv.Itoa(i))
			if i < 4 {
				if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(name, []byte("12345"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, mode := range []string{"survey", "open", "recall"} {
		b.Run(mode, func(b *testing.B) {
			t := New(dir, Options{})
			if mode == "recall" {
				s, err := t.Survey(b.Context(), 4096, nil)
				drain(b, s, err)
			}
			b.ReportAllocs()
			entries, begin := 0, time.Now()
			for b.Loop() {
				var s tree.Source
				var err error
				if mode == "survey" {
					s, err = t.Survey(b.Context(), 4096, nil)
				} else {
					s, err = t.Open(b.Context())
				}
				entries += drain(b, s, err)
			}
			b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(entries), "ns/file")
		})
	}
}
