package verify

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"mkfs/internal/aginit"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/metafile"
)

// generated is a new filesystem that is made while it is read.
type generated struct {
	g     *geometry.Geometry
	build *aginit.Builder
	frame aginit.Frame
	made  aginit.Made
	kept  map[int64][]byte // blocks that were written
}

// files makes what a new filesystem holds.
func (d *generated) files(t *testing.T, id aginit.Identity) {
	fs := &live.FS{
		G: d.g, V5: true, UUID: id.UUID, Cache: buffer.New(d, buffer.Config{}), Generation: id.Generation,
		Counts: live.Counts{FreeBlocks: d.g.FreeBlocks()}, Now: func() (int64, uint32) { return id.Seconds, id.Nanos },
	}
	files, err := metafile.New(fs).All(context.Background())
	if err == nil {
		err = fs.Cache.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.made = aginit.Made{
		Bitmap: files.Bitmap, Summary: files.Summary,
		Inodes: fs.Counts.Inodes, FreeInodes: fs.Counts.FreeInodes, FreeBlocks: fs.Counts.FreeBlocks,
	}
}

func (d *generated) Read(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		_, _ = d.ReadAt(p, off)
		off += int64(len(p))
	}
	done(nil)
	return nil
}

func (d *generated) Write(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		d.kept[off] = bytes.Clone(p)
		off += int64(len(p))
	}
	done(nil)
	return nil
}

func (d *generated) Reap(int) error { return nil }

func (d *generated) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	put := func(b []byte, at int64) {
		if at < off+int64(len(p)) && off < at+int64(len(b)) {
			copy(p[max(0, at-off):], b[max(0, off-at):])
		}
	}
	agno := geometry.AGNumber(geometry.Bytes(off) / d.g.Bytes(d.g.AGBlocks))
	if uint64(agno) >= uint64(d.g.AGCount) {
		return 0, io.EOF
	}
	d.build.Build(agno, &d.frame)
	put(d.frame.Data, int64(d.g.Offset(agno, 0)))
	if agno == 0 {
		for at, b := range d.kept {
			put(b, at)
		}
		put(d.build.Primary(d.made), 0)
	}
	if d.g.HasLog(agno) {
		put(d.build.LogRecord(), int64(d.g.Offset(agno, d.g.Log.Start)))
	}
	return len(p), nil
}

// The largest filesystem there is, 8 EiB less a block, of which all offsets
// fit. It takes a minute or two.
func TestLargest(t *testing.T) {
	if os.Getenv("MKFS_SLOW") == "" {
		t.Skip("reads 8 million AGs; MKFS_SLOW=1 does it")
	}
	g := plan(t, math.MaxInt64, nil)
	b := aginit.New(g, testID(1))
	d := &generated{g: g, build: b, frame: aginit.Frame{Data: make([]byte, b.HeaderSize())}, kept: map[int64][]byte{}}
	d.files(t, testID(1))
	var most uint64
	start := time.Now()
	r, err := (&image{g: g, base: d, size: math.MaxInt64}).run(func(o *Options) {
		o.Data.Reader, o.Depth = newReader(d, 100, 1), 100
		o.Progress = func(done, total int64) {
			if done%100000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.Sys)
			}
		}
	})
	t.Logf("%d AGs in %v, %d MiB of memory", r.AGs, time.Since(start), most>>20)
	if err != nil || r.Status() != Clean || !r.Compared || r.AGs != int64(g.AGCount) {
		t.Errorf("%+v, %v", r, err)
	}
}
