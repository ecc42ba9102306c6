package logtest

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Unpack returns a disk image that lies packed by gzip, as those in testdata/dirty.
func Unpack(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
