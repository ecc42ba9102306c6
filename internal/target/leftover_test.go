package target

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newXFS is what a formatter makes of a target of a size: its superblock, and
// zeros at both ends.
func newXFS(size int64) []Laid {
	const ends = 128 * kib
	b := xfsFields("XFSB", 512, 9)
	return []Laid{
		{Window: Window{Length: ends}},
		{Window: Window{Offset: size - ends, Length: ends}},
		{Window: Window{Length: int64(len(b))}, Data: b},
	}
}

func isXFS(s Signature) bool { return s.Name == "xfs" }

// lay is a disk with ranges laid over it, and then zeros over those of list.
func lay(d *sparseDisk, over []Laid, list []Leftover) *sparseDisk {
	l := &sparseDisk{d.size, slices.Clone(d.pieces)}
	for _, o := range over {
		b := make([]byte, o.Length)
		copy(b, o.Data)
		l.pieces = append(l.pieces, piece{o.Offset, b})
	}
	for _, f := range list {
		for _, e := range f.Extents {
			l.pieces = append(l.pieces, piece{e.Offset, make([]byte, e.Length)})
		}
	}
	return l
}

// TestLeftovers formats over each sample, with all copies that there may be of its
// format. What is there after that is the XFS only, to blkid(8) too, and what was
// gone before that is left alone.
func TestLeftovers(t *testing.T) {
	blkid, err := exec.LookPath("blkid")
	if err != nil {
		t.Log("without blkid(8)")
	}
	path := filepath.Join(t.TempDir(), "disk")
	wiped := map[string]int{}
	samples := allSamples()
	for _, s := range samples {
		if s.disk.size < 64*mib {
			continue
		}
		d := &s.disk
		for _, other := range samples {
			if other.name == s.name && other.disk.size == d.size {
				d.pieces = append(d.pieces, other.disk.pieces...)
			}
		}
		over := newXFS(d.size)
		made := lay(d, over, nil)
		list := Leftovers(d, d.size, over, isXFS)
		if len(mustSignatures(t, made)) == 1 && s.name != "zfs_member" && len(list) > 0 {
			t.Errorf("%s: nothing is left of it, and %v is to be wiped", s.name, list)
		}
		for _, f := range list {
			wiped[f.Name]++
			for _, e := range f.Extents {
				if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > d.size {
					t.Errorf("%s: %v is not on it", f.Name, e)
				}
			}
		}
		final := lay(lay(made, nil, list), over[2:], nil) // the superblock comes last
		found := mustSignatures(t, final)
		if len(found) != 1 || found[0].Name != "xfs" {
			t.Errorf("%s: found %v afterwards", s.name, found)
		}
		if blkid == "" || len(list) == 0 {
			continue
		}
		writeSparse(t, path, final)
		if out, _ := exec.Command(blkid, "-p", "-o", "export", path).CombinedOutput(); !strings.Contains(string(out), "TYPE=xfs\n") {
			t.Errorf("%s: blkid says %q afterwards", s.name, out)
		}
	}
	for _, name := range []string{"zfs_member", "VMFS", "VMFS_volume_member", "ufs", "promise_fasttrack_raid_member", "ddf_raid_member",
		"bcachefs", "crypto_LUKS"} {
		if wiped[name] == 0 {
			t.Errorf("nothing was wiped of %s", name)
		}
	}
}

// TestLeftoversOld has a label of ZFS of which the list is gone with the start, and
// what releases of libblkid before 2.41 look for is not.
func TestLeftoversOld(t *testing.T) {
	samples := allSamples()
	d := samples[slices.IndexFunc(samples, func(s sample) bool { return s.name == "zfs_member" })].disk
	for i := range int64(8) {
		d.pieces = append(d.pieces, piece{(128 + i) * kib, structure(48, set{0, uint64(0x00bab10c)}, set{8, uint64(5000)}, set{16, uint64(9)})})
	}
	list := Leftovers(&d, d.size, newXFS(d.size), isXFS)
	if len(list) != 1 || list[0].Extents[0] != (Window{0, 256 * kib}) || len(list[0].Extents) != 4 {
		t.Errorf("%v", list)
	}
}

// TestLeftoversNone has what a new filesystem is made over most of the time.
func TestLeftoversNone(t *testing.T) {
	xfs := newXFS(size0)
	for i, d := range []*sparseDisk{{size: size0}, lay(&sparseDisk{size: size0}, xfs, nil)} {
		if list := Leftovers(d, size0, xfs, isXFS); len(list) != 0 {
			t.Errorf("%d: %v", i, list)
		}
	}
	if list := Leftovers(newPattern("\xa5\xa5\xa5\xa5\x10\x00\x00\x00", size0), size0, xfs, isXFS); len(list) != 0 {
		t.Errorf("a pattern: %v", list)
	}
	if list := Leftovers(&sparseDisk{size: 500}, 500, nil, isXFS); len(list) != 0 {
		t.Errorf("500 bytes: %v", list)
	}
}

// TestLeftoversUnreadable has a sector that cannot be read, beside what is found,
// and a file that is shorter than it will be.
func TestLeftoversUnreadable(t *testing.T) {
	d := sparseDisk{size0, []piece{{2 * mib, []byte("\x5e\xf1\xab\x2f")}}}
	for _, at := range []int64{0, mib, size0 - 1} {
		list := Leftovers(failing{&d, at, errors.New("bad sector")}, size0, newXFS(size0), isXFS)
		if len(list) != 1 || list[0].Name != "VMFS" {
			t.Errorf("unreadable at %d: %v", at, list)
		}
	}
	short := sparseDisk{2*mib + 10, d.pieces}
	if list := Leftovers(&short, size0, newXFS(size0), isXFS); len(list) != 1 {
		t.Errorf("a file of %d bytes: %v", short.size, list)
	}
}
