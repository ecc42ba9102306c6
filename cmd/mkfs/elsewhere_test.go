package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"mkfs/internal/aginit"
	"mkfs/internal/ondisk"
	"mkfs/internal/options"
	"mkfs/internal/progress"
)

// zfsLabel is one of the four labels of ZFS: a list of names and numbers, and a ring
// of uberblocks behind it, which releases of libblkid before 2.41 look for.
func zfsLabel() []byte {
	label := make([]byte, 256<<10)
	be := binary.BigEndian
	list := append(label[:16<<10], 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, pair := range []struct {
		name  string
		value uint64
	}{{"version", 5000}, {"txg\x00", 4}, {"guid", 12345}, {"pool_guid\x00\x00\x00", 678}} {
		for len(pair.name)%4 != 0 {
			pair.name += "\x00"
		}
		list = be.AppendUint32(list, uint32(12+len(pair.name)+16))
		list = be.AppendUint32(list, 0)
		list = be.AppendUint32(list, uint32(len(strings.TrimRight(pair.name, "\x00"))))
		list = append(list, pair.name...)
		list = be.AppendUint32(be.AppendUint32(list, 8), 1)
		list = be.AppendUint64(list, pair.value)
	}
	state := []byte("\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x00\x05state\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	copy(label[len(list):], state)
	for at := 128 << 10; at < len(label); at += 1 << 10 {
		binary.LittleEndian.PutUint64(label[at:], 0x00bab10c)
		binary.LittleEndian.PutUint64(label[at+8:], 5000)
		binary.LittleEndian.PutUint64(label[at+16:], uint64(at))
	}
	return label
}

// After -f a prober finds an XFS and nothing else, wherever the old format was, with
// and without discard (P69). It comes back with undo.
func TestElsewhere(t *testing.T) {
	blkid := tool(t, "blkid")
	const size = 400<<20 + 512
	found := func(path string) string {
		out, _ := exec.Command(blkid, "-p", "-c", "/dev/null", "-o", "value", "-s", "TYPE", path).Output()
		return strings.TrimSpace(string(out))
	}
	label := zfsLabel()
	start, end := int64(256<<10), int64(size)&^(256<<10-1)
	for _, c := range []struct {
		name string
		text []byte
		at   []int64
	}{
		{"zfs_member", label, []int64{0, start, end - 2*start, end - start}},
		{"zfs_member", label, []int64{0}}, // of which only the ring remains once the start is wiped
		{"zfs_member", label, []int64{end - 2*start}},
		{"VMFS", []byte("\x5e\xf1\xab\x2f"), []int64{2 << 20}},
		{"VMFS_volume_member", []byte("\x0d\xd0\x01\xc0"), []int64{1 << 20}},
		{"promise_fasttrack_raid_member", []byte("Promise Technology, Inc."), []int64{size - 399*512, size - 3087*512}},
		{"lsi_mega_raid_member", []byte("$XIDE$"), []int64{size - 512}}, // behind the last whole KiB
		{"ufs", []byte("\x19\x01\x54\x19"), []int64{256<<10 + 1372}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "img")
			f, err := os.Create(path)
			if err == nil {
				err = f.Truncate(size)
			}
			for _, at := range c.at {
				if err == nil {
					_, err = f.WriteAt(c.text, at)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			if is := found(path); is != c.name {
				t.Fatalf("blkid sees %q before", is)
			}
			before := digestOf(t, path)
			if status, _, errs := runAs(t, "mkfs", path); status != 1 || !strings.Contains(errs, c.name) {
				t.Errorf("without -f: exit status %d\n%s", status, errs)
			}
			undo := filepath.Join(t.TempDir(), "undo")
			mustFormat(t, "-f", "--verify", "--undo", undo, path)
			if is := found(path); is != "xfs" {
				t.Errorf("blkid sees %q afterwards", is)
			}
			if status, _, errs := runAs(t, "mkfs", "undo", "-q", undo, path); status != 0 || digestOf(t, path) != before {
				t.Errorf("undone it is not as it was: %d\n%s", status, errs)
			}
			if os.Geteuid() != 0 {
				return
			}
			loop := attach(t, path)
			for _, options := range [][]string{{"-K"}, {"--discard-limit", "1ns"}, {}} {
				status, _, errs := runAs(t, "mkfs", append(options, "-f", "--verify", loop)...)
				if is := found(loop); status != 0 || is != "xfs" {
					t.Errorf("%v: exit status %d, blkid sees %q afterwards\n%s", options, status, is, errs)
				}
				for _, at := range c.at {
					writeAt(t, loop, c.text, at)
				}
			}
		})
	}
}

// writeAt writes to a file or device.
func writeAt(t *testing.T, path string, p []byte, off int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(p, off); err != nil {
		t.Fatal(err)
	}
}

// A device that keeps what was on it does not pass --verify, though the filesystem
// is sound (P69).
func TestVerifyAfterForeign(t *testing.T) {
	path := sparse(t, filepath.Join(t.TempDir(), "img"), "400m")
	mustFormat(t, "-m", "uuid=12345678-9abc-def0-0123-456789abcdef", path)
	writeAt(t, path, []byte("\x5e\xf1\xab\x2f"), 2<<20)
	j := job{who: aginit.Identity{UUID: ondisk.UUID(uuid.MustParse("12345678-9abc-def0-0123-456789abcdef"))}, parser: options.NewParser()}
	j.shown, _ = progress.New("none", nil, true)
	var printed, errs bytes.Buffer
	j.out, j.err, j.name, j.engine = &printed, &errs, "mkfs", "auto"
	j.parser.Target(path)
	j.parser.CommandLine()
	status, out := statusOf(j.verifyAfter(t.Context())), printed.String()
	if status != 1 || !strings.Contains(out, "VMFS: still shows, at byte 2097152") || !strings.Contains(out, "1 fault\n") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if status, out, errs := runAs(t, "mkfs", "verify", path); status != 0 || !strings.Contains(errs, "note: "+path+" also shows VMFS") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
}
