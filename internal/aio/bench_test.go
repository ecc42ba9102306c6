package aio

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	benchRequest = 28 << 10 // the headers of an AG
	benchStride  = 1 << 20
	benchCount   = 256
)

// BenchmarkRing measures the cost of a request where the device costs almost
// nothing: a file on tmpfs.
func BenchmarkRing(b *testing.B) {
	if err := unix.Access("/dev/shm", unix.W_OK); err != nil {
		b.Skipf("no /dev/shm: %v", err)
	}
	f, err := os.CreateTemp("/dev/shm", "ring")
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		b.Fatal(err)
	}
	benchmarkEngines(b, f)
}

// BenchmarkRingDirect is for the depth: direct IO to the filesystem of the
// test's directory, requests far apart.
func BenchmarkRingDirect(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "image"), os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
	if err != nil {
		b.Skipf("no direct IO here: %v", err)
	}
	defer f.Close()
	benchmarkEngines(b, f)
}

func benchmarkEngines(b *testing.B, f *os.File) {
	slab, release, err := NewSlab(benchCount * benchRequest)
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	for i := range slab {
		slab[i] = byte(i)
	}
	for _, kind := range []Kind{Uring, AIO, Sync} {
		b.Run(kind.String(), func(b *testing.B) {
			r, err := Open(int(f.Fd()), Config{Engine: kind})
			if err != nil {
				b.Skip(err)
			}
			vec := make([][]byte, 1)
			pass := func() {
				for i := range benchCount {
					vec[0] = slab[i*benchRequest : (i+1)*benchRequest]
					if err := r.Write(int64(i)*benchStride, vec, nil); err != nil {
						b.Fatal(err)
					}
				}
				if err := r.Reap(benchCount); err != nil {
					b.Fatal(err)
				}
			}
			pass() // allocate the file's blocks
			b.SetBytes(benchCount * benchRequest)
			b.ReportAllocs()
			for b.Loop() {
				pass()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchCount, "ns/req")
			b.ReportMetric(r.Stats().AverageDepth, "depth")
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
