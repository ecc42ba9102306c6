package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/compat"
)

// A preset gives the filesystem that the reference's file of that name gives,
// where the reference is at hand.
func TestPresetsAreTheReferences(t *testing.T) {
	oracle := os.Getenv("XFSPROGS_ORACLE")
	if oracle == "" {
		t.Skip("XFSPROGS_ORACLE does not name a folder that has the reference")
	}
	image := filepath.Join(t.TempDir(), "img")
	if err := os.WriteFile(image, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 10<<30); err != nil {
		t.Fatal(err)
	}
	made := func(args ...string) string {
		var out, errs bytes.Buffer
		if status := run(append(append([]string{"mkfs", "-N", "--json"}, args...), image), &out, &errs); status != 0 {
			t.Fatalf("%v: exit status %d: %s", args, status, errs.String())
		}
		_, geometry, _ := strings.Cut(out.String(), `"geometry"`)
		return geometry
	}
	compared := 0
	for _, name := range compat.Names() {
		file := strings.ReplaceAll(name, "-", "_") + ".conf"
		path := filepath.Join(oracle, "root/usr/share/xfsprogs/mkfs", file)
		if _, err := os.Stat(path); err != nil {
			continue // it has none for boot loaders
		}
		compared++
		if got, want := made("--preset", name), made("-c", "options="+path); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	if compared != 8 {
		t.Errorf("%d presets have been compared, not 8", compared)
	}
}
