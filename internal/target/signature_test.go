package target

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func allSamples() []sample {
	return slices.Concat(volumeSamples(), unixSamples(), imageSamples(), dosFSSamples(), opticalSamples(), diskSamples())
}

// has returns the signature with a name, if it is among those found.
func has(found []Signature, name string) (Signature, bool) {
	i := slices.IndexFunc(found, func(s Signature) bool { return s.Name == name })
	if i < 0 {
		return Signature{}, false
	}
	return found[i], true
}

func mustSignatures(t *testing.T, d *sparseDisk) []Signature {
	t.Helper()
	found, err := Signatures(d, d.size)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSamples finds each format where it is, and nothing of it when any byte of
// its magic number is another.
func TestSamples(t *testing.T) {
	for i, s := range allSamples() {
		found := mustSignatures(t, &s.disk)
		sig, ok := has(found, s.name)
		if !ok || sig.Offset != s.magic || len(found) != 1 {
			t.Errorf("sample %d: found %v, want %s at %d", i, found, s.name, s.magic)
			continue
		}
		f := formatNamed(s.name)
		if sig.PartitionTable != f.partitionTable || sig.Container != f.container {
			t.Errorf("%s: got %+v", s.name, sig)
		}
		for j := range s.bytes {
			v := newView(s.disk.flip(s.magic+int64(j)), s.disk.size)
			if off, ok := f.find(v); ok && off == s.magic {
				t.Errorf("%s at %d: still found with byte %d of the magic number changed", s.name, s.magic, j)
			}
		}
		if small := (&sparseDisk{f.minSize - 1, s.disk.pieces}); f.minSize > 0 {
			if _, ok := has(mustSignatures(t, small), s.name); ok {
				t.Errorf("%s: found on a target of %d bytes", s.name, small.size)
			}
		}
	}
}

// TestEveryFormatHasSample keeps the samples complete.
func TestEveryFormatHasSample(t *testing.T) {
	samples := allSamples()
	for _, f := range formats {
		if !slices.ContainsFunc(samples, func(s sample) bool { return s.name == f.name }) {
			t.Errorf("no sample of %s", f.name)
		}
		if (f.search == nil) == (len(f.magics) == 0) {
			t.Errorf("%s: wants either magic numbers or a search", f.name)
		}
	}
}

// TestOwner has the UUID of the filesystem that something is a part of.
func TestOwner(t *testing.T) {
	for _, s := range allSamples() {
		want := s.name == "xfs" || s.name == "xfs_external_log" || s.name == "xfs_realtime"
		for _, sig := range mustSignatures(t, &s.disk) {
			if got := string(sig.UUID[:]) == sampleUUID; got != want || !want && sig.UUID != [16]byte{} {
				t.Errorf("%s: UUID %q", s.name, sig.UUID)
			}
		}
	}
}

// TestChecksumsCount changes a byte somewhere in a structure that has a
// checksum over it.
func TestChecksumsCount(t *testing.T) {
	for _, c := range []struct {
		name string
		off  int64
	}{
		{"bcache", 4096 + 100}, {"LVM2_member", 300}, {"ubi", 10}, {"stratis", 512 + 100}, {"cs_fvault2", 200},
		{"ddf_raid_member", fromEnd0(1) + 300}, {"via_raid_member", fromEnd0(1) + 20}, {"jmicron_raid_member", fromEnd0(1) + 20},
		{"ext4", kib + 500}, {"ubifs", 2000}, {"nilfs2", kib + 100}, {"f2fs", kib + 3000}, {"mpool", 20}, {"apfs", 4000},
		{"zonefs", 4000}, {"erofs", kib + 3000}, {"cramfs", 4000}, {"romfs", 500}, {"scoutfs_meta", 64*kib + 4000},
		{"exfat", 11*512 + 1}, {"exfat", 5000}, {"sgi", 300}, {"sun", 300}, {"bsd", 512 + 300}, {"gpt", 512 + 50}, {"gpt", 1024 + 5000},
		{"btrfs", 64*kib + 4000}, {"xfs_realtime", 30}, {"xfs_metadump", 6}, {"silicon_medley_raid_member", fromEnd0(1) + 5}, {"nvidia_raid_member", fromEnd0(2) + 100}, {"atari", 450},
	} {
		samples := allSamples()
		s := samples[slices.IndexFunc(samples, func(s sample) bool { return s.name == c.name })]
		if _, ok := has(mustSignatures(t, s.disk.flip(c.off)), c.name); ok {
			t.Errorf("%s: found with byte %d changed", c.name, c.off)
		}
	}
}

// TestClean has what is on disks that have nothing on them.
func TestClean(t *testing.T) {
	sizes := []int64{0, 1, 511, 512, 1024, 1025, 4096, 65536, 65537, 1 << 20, size0, 1<<30 + 12345, 1 << 50, math.MaxInt64}
	for _, size := range sizes {
		if found := mustSignatures(t, &sparseDisk{size: size}); len(found) != 0 {
			t.Errorf("%d bytes of zeros: %v", size, found)
		}
	}
	patterns := []string{"\x55\xaa", "\xaa\x55", "\xde\xad\xbe\xef", "\x00\xff", "XFS", "SWAP", "0123456789", "\xeb\x00"}
	for b := range 256 {
		patterns = append(patterns, string([]byte{byte(b)}))
	}
	for _, p := range patterns {
		for _, size := range []int64{64 << 20, 1<<40 + 700} {
			found, err := Signatures(newPattern(p, size), size)
			if err != nil || len(found) != 0 {
				t.Errorf("%d bytes of %q: %v, %v", size, p, found, err)
			}
		}
	}
}

// pattern is a target filled with one text, over and over.
type pattern struct {
	text  string
	size  int64
	piece string // enough of it for any read
}

func newPattern(text string, size int64) pattern {
	return pattern{text, size, strings.Repeat(text, 2+chunkSize/len(text))}
}

func (d pattern) ReadAt(p []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(p)), d.size-off)))
	copy(p[:n], d.piece[off%int64(len(d.text)):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestNotPartitioned has boot sectors that end like a partition table.
func TestNotPartitioned(t *testing.T) {
	for _, s := range dosFSSamples() {
		s.disk.pieces = append(s.disk.pieces, piece{510, []byte("\x55\xaa")})
		if found := mustSignatures(t, &s.disk); len(found) != 1 || found[0].Name != s.name {
			t.Errorf("%s: found %v", s.name, found)
		}
	}
	boot := structure(512, set{446 + 16, byte(1)}, set{510, "\x55\xaa"})
	if found := mustSignatures(t, &sparseDisk{size0, []piece{{0, boot}}}); len(found) != 0 {
		t.Errorf("an entry with a boot flag of 1: %v", found)
	}
}

// TestOrder has file systems before the partition table that is there too, and
// both before a container.
func TestOrder(t *testing.T) {
	find := func(name string) sample {
		ss := allSamples()
		return ss[slices.IndexFunc(ss, func(s sample) bool { return s.name == name })]
	}
	d := &sparseDisk{size: size0}
	for _, name := range []string{"dos", "ext4", "vhd", "LVM2_member"} {
		d.pieces = append(d.pieces, find(name).disk.pieces...)
	}
	d.pieces = append(d.pieces, piece{0, find("dos").disk.pieces[0].data}, piece{512, volumeSamples()[16].disk.pieces[0].data})
	var names []string
	for _, s := range mustSignatures(t, d) {
		names = append(names, s.Name)
	}
	if want := []string{"LVM2_member", "ext4", "dos", "vhd"}; !slices.Equal(names, want) {
		t.Errorf("found %v, want %v", names, want)
	}
}

// TestNothingInside has magic numbers over structures of no length.
func TestNothingInside(t *testing.T) {
	for _, c := range []struct {
		name string
		off  int64
		data string
	}{{"romfs", 8, "\x00\x00\x00\x00"}, {"befs", 122, "\x00\x00"}, {"gpt", 512 + 80, "\x00\x00\x00\x00"}} {
		ss := allSamples()
		s := ss[slices.IndexFunc(ss, func(s sample) bool { return s.name == c.name })]
		s.disk.pieces = append(s.disk.pieces, piece{c.off, []byte(c.data)})
		if _, ok := has(mustSignatures(t, &s.disk), c.name); ok {
			t.Errorf("%s found", c.name)
		}
	}
}

// failing is a reader that cannot read at one place.
type failing struct {
	d   *sparseDisk
	at  int64
	err error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, f.err
	}
	return f.d.ReadAt(p, off)
}

func TestReadError(t *testing.T) {
	bad := errors.New("bad sector")
	for _, at := range []int64{0, 64 * kib, size0 - 1} {
		found, err := Signatures(failing{&sparseDisk{size: size0}, at, bad}, size0)
		if !errors.Is(err, bad) || found != nil {
			t.Errorf("unreadable at %d: %v, %v", at, found, err)
		}
	}
	if _, err := Signatures(bytes.NewReader(make([]byte, 5000)), 1<<20); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("shorter than said: %v", err)
	}
}

func FuzzSignatures(f *testing.F) {
	for _, s := range allSamples() {
		p := s.disk.pieces[0]
		f.Add(p.data, p.off, s.disk.size)
	}
	f.Add([]byte("x"), int64(5), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, data []byte, off, size int64) {
		if off < 0 || size < 0 || off > math.MaxInt64-int64(len(data)) {
			t.Skip("no target has that")
		}
		found, err := Signatures(&sparseDisk{size, []piece{{off, data}}}, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.Offset < 0 || s.Offset >= size {
				t.Errorf("%+v lies outside of %d bytes", s, size)
			}
		}
	})
}
