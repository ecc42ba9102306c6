package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unlikeBlkid are the formats in which releases of blkid(8) differ: some have
// come since 2.38, of LUKS the second header has gone, a BSD label is told only
// together with its partitions, and a file's sectors are taken to have 512 bytes.
// A realtime device of XFS is unknown to all.
var unlikeBlkid = []string{"bcachefs", "cs_fvault2", "scoutfs_meta", "scoutfs_data", "zfs_member", "crypto_LUKS", "bsd", "gpt", "isw_raid_member", "xfs_realtime"}

// TestBlkidAgrees shows the samples to blkid(8). It finds each of them under the
// same name, so that a structure is not only what its own test takes it for.
func TestBlkidAgrees(t *testing.T) {
	blkid, err := exec.LookPath("blkid")
	if err != nil {
		t.Skip("there is no blkid(8)")
	}
	path := filepath.Join(t.TempDir(), "disk")
	for i, s := range allSamples() {
		f := formatNamed(s.name)
		if f.container || slices.Contains(unlikeBlkid, s.name) {
			continue
		}
		writeSparse(t, path, &s.disk)
		out, _ := exec.Command(blkid, "-p", "-o", "export", path).CombinedOutput()
		if !strings.Contains(string(out), "TYPE="+s.name+"\n") {
			t.Errorf("sample %d, %s at %d: blkid says %q", i, s.name, s.magic, out)
		}
	}
}

// writeSparse makes a file of what a disk holds.
func writeSparse(t *testing.T, path string, d *sparseDisk) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(d.size); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.pieces {
		if _, err := f.WriteAt(p.data, p.off); err != nil {
			t.Fatal(err)
		}
	}
}

// formatNamed is the row of the table with a name.
func formatNamed(name string) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == name })]
}
