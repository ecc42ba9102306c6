package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func given(n int64) Number { return Number{N: n, Given: true} }

func TestPartFault(t *testing.T) {
	for _, c := range []struct {
		part Part
		says string // "" for no fault
	}{
		{Part{}, ""},
		{Part{Partition: given(1)}, ""},
		{Part{Offset: given(0)}, ""},
		{Part{Offset: given(4096), Length: given(1)}, ""},
		{Part{Partition: given(0)}, "--partition: 0; the first one is 1"},
		{Part{Partition: given(-1)}, "--partition: -1"},
		{Part{Partition: given(1), Offset: given(0)}, "--partition: does not go together"},
		{Part{Partition: given(1), Length: given(0)}, "--partition: does not go together"},
		{Part{Length: given(4096)}, "--length: needs --offset"},
		{Part{Offset: given(0), Length: given(0)}, "--length: 0 bytes"},
	} {
		err := c.part.Fault()
		if (c.says == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.part, err, c.says)
		}
		if want := c.part != (Part{}); c.part.Given() != want {
			t.Errorf("%+v: given %v", c.part, !want)
		}
	}
}

func TestPartFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	// An MBR with partition 2, sectors 2048 to 6143.
	disk := make([]byte, 4<<20)
	copy(disk[446+16:], []byte{0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0})
	disk[510], disk[511] = 0x55, 0xaa
	if err := os.WriteFile(path, disk, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part           Part
		offset, length int64
		says           string
	}{
		{Part{Partition: given(2)}, 1 << 20, 2 << 20, ""},
		{Part{Offset: given(1 << 20)}, 1 << 20, 3 << 20, ""},
		{Part{Offset: given(512), Length: given(1024)}, 512, 1024, ""},
		{Part{Partition: given(1)}, 0, 0, "has no partition 1; there are 2"},
		{Part{Offset: given(4 << 20)}, 0, 0, "byte"},
		{Part{Offset: given(1 << 20), Length: given(4 << 20)}, 0, 0, "byte"},
	} {
		w, table, err := c.part.Find(path)
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v, want %q", c.part, err, c.says)
			}
		case err != nil:
			t.Errorf("%+v: %v", c.part, err)
		case w.Offset != c.offset || w.Length != c.length || table == nil || table.Sector != 512:
			t.Errorf("%+v: %v of a table %+v", c.part, w, table)
		}
	}
	all := Part{}
	if w, table, err := all.Find(path); w != nil || table != nil || err != nil {
		t.Errorf("all of it: %v, %v, %v", w, table, err)
	}
}
