package rescue

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
)

// sampleImages are dirty images that a kernel has left, by name.
func sampleImages(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/dirty/*.img.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal("no images: ", err)
	}
	images := map[string][]byte{}
	for _, path := range paths {
		images[filepath.Base(path)] = logtest.Unpack(t, path)
	}
	return images
}

func ringOn(b []byte, seed uint64) *memRing {
	return &memRing{b: b, rand: rand.New(rand.NewPCG(seed, 5))}
}

func options(r *memRing) recovery.Options {
	return recovery.Options{Data: device("img", r), Depth: 8, Memory: memory}
}

// planOf makes the plan of an image, and a copy by it.
func planOf(t *testing.T, img []byte) (*Plan, []byte) {
	t.Helper()
	from := ringOn(img, 1)
	p, err := MakePlan(context.Background(), options(from))
	if err != nil {
		t.Fatal(err)
	}
	to := ringOn(make([]byte, len(img)), 2)
	if _, err := Copy(context.Background(), device("img", from), device("copy", to), p.Data, CopyOptions{Depth: 4, Memory: memory}); err != nil {
		t.Fatal(err)
	}
	return p, to.b
}

// covered tells whether a span lies in one of a list.
func covered(list []recovery.Span, s recovery.Span) bool {
	return slices.ContainsFunc(list, func(l recovery.Span) bool { return l.Off <= s.Off && s.End() <= l.End() })
}

// Recovering a copy reads nothing but what was copied, and comes to the same as
// recovering all: wherever there was something in the copy, or is now.
func TestCopyRecovers(t *testing.T) {
	for name, img := range sampleImages(t) {
		before := bytes.Clone(img)
		p, part := planOf(t, img)
		if !bytes.Equal(img, before) {
			t.Fatalf("%s: the source has changed", name)
		}
		if len(p.Notes) > 0 || Bytes(p.Data) >= int64(len(img)) {
			t.Errorf("%s: %d of %d bytes are copied: %v", name, Bytes(p.Data), len(img), p.Notes)
		}
		of := ringOn(part, 3)
		of.sees = func(off, n int64) {
			if !covered(p.Data, recovery.Span{Off: off, Len: n}) {
				t.Errorf("%s: recovery reads %d bytes at byte %d, not all of which is copied", name, n, off)
			}
		}
		a, errA := recovery.Run(context.Background(), options(of))
		b, errB := recovery.Run(context.Background(), options(ringOn(img, 4)))
		if errA != nil || errB != nil || a.Finished != b.Finished {
			t.Fatalf("%s: finished %v, %v; of all %v, %v", name, a.Finished, errA, b.Finished, errB)
		}
		for _, s := range p.Data {
			if !bytes.Equal(part[s.Off:s.End()], img[s.Off:s.End()]) {
				t.Errorf("%s: %d bytes at byte %d differ", name, s.Len, s.Off)
			}
		}
		if !a.Finished {
			continue
		}
		after, err := MakePlan(context.Background(), options(ringOn(img, 5)))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range after.Data {
			if !covered(p.Data, s) {
				t.Errorf("%s: %d bytes at byte %d are in use once all is recovered, and were not copied", name, s.Len, s.Off)
			}
		}
	}
}

// cleanImage is an image of one AG whose log is clean.
func cleanImage(t *testing.T) []byte {
	t.Helper()
	img := sampleImages(t)["creates.img.gz"]
	if _, err := recovery.Run(context.Background(), options(ringOn(img, 1))); err != nil {
		t.Fatal(err)
	}
	r, err := recovery.Run(context.Background(), options(ringOn(img, 1)))
	if err != nil || !r.Log.Clean {
		t.Fatalf("clean %v, %v", r.Log.Clean, err)
	}
	return img
}

// The AG whose free space is not certain is copied as a whole.
func TestUncertain(t *testing.T) {
	leaf := func(magic string) func([]byte) {
		return func(img []byte) {
			at := bytes.Index(img, []byte(magic))
			if at < 0 {
				t.Fatalf("no %s", magic)
			}
			img[at+ondisk.BtreeHeader+7]++
			ondisk.Seal(img[at:at+4096], ondisk.BtreeCRC)
		}
	}
	sound, _ := planOf(t, cleanImage(t))
	least := Bytes(sound.Data)
	for _, c := range []struct {
		name, says string
		change     func(img []byte)
	}{
		{"AGF torn", "AGF: ", func(img []byte) { img[512+60] ^= 1 }},
		{"no AGF", "there is no AGF", func(img []byte) { clear(img[512:1024]) }},
		{"another's AGF", "is of AG 7", func(img []byte) { img[512+11] = 7; ondisk.Seal(img[512:1024], ondisk.AGFCRC) }},
		{"a root outside", "leads to block", func(img []byte) { img[512+16] = 0x7f; ondisk.Seal(img[512:1024], ondisk.AGFCRC) }},
		{"levels", "levels", func(img []byte) { img[512+31] = 99; ondisk.Seal(img[512:1024], ondisk.AGFCRC) }},
		{"free blocks", "its AGF says", func(img []byte) { img[512+55] ^= 1; ondisk.Seal(img[512:1024], ondisk.AGFCRC) }},
		{"a record by size", "are not the same", leaf("AB3C")},
		{"a record by place", "AG 0", leaf("AB3B")},
		{"a torn leaf", "is none of its", func(img []byte) { img[bytes.Index(img, []byte("AB3B"))+ondisk.BtreeHeader+7]++ }},
		{"a leaf lost", "is none of its", func(img []byte) { clear(img[bytes.Index(img, []byte("AB3C")):][:512]) }},
	} {
		img := cleanImage(t)
		c.change(img)
		p, _ := planOf(t, img)
		if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], c.says) || !strings.HasPrefix(p.Notes[0], "AG 0 ") {
			t.Errorf("%s: notes %q, want %q", c.name, p.Notes, c.says)
		}
		if got := Bytes(p.Data); got <= least { // there is one AG, and its free space is copied too
			t.Errorf("%s: %d of %d bytes are copied", c.name, got, len(img))
		}
	}
}
