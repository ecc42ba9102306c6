package recovery

import (
	"mkfs/internal/buffer"
	"mkfs/internal/super"
	"mkfs/internal/xlog"
)

// View is a filesystem as its log leaves it once it has been replayed in the
// memory of a dry run: what is on disk, and over it what was replayed.
type View struct {
	FS    *super.Filesystem
	State xlog.State // of the log as it is on disk
	cache *blocks
}

// Span is a range of bytes.
type Span struct{ Off, Len int64 }

// End is the first byte behind the span.
func (s Span) End() int64 { return s.Off + s.Len }

// Overlay takes p, what is on disk from byte off on, to what it is once the log
// is replayed. Blocks that are in it as a whole have their checksums.
func (v *View) Overlay(p []byte, off int64) {
	end := off + int64(len(p))
	v.cache.Changed(off, int64(len(p)), func(b *buffer.Buf) {
		from, to := max(off, b.Off), min(end, b.Off+int64(len(b.Data)))
		copy(p[from-off:to-off], b.Data[from-b.Off:])
		if whole := to-from == int64(len(b.Data)); whole && b.Kind.Seal != nil {
			b.Kind.Seal(p[from-off : to-off])
		}
	})
}

// Touched are all places that were looked at or changed, in no order. Whoever
// replays the log again looks at no others, but for the log itself.
func (v *View) Touched() []Span { return v.cache.seen }

// look hands the filesystem to who wants to see it.
func (r *recoverer) look() error {
	if r.Look == nil || !r.DryRun {
		return nil
	}
	return r.Look(&View{FS: r.fs, State: r.report.Log, cache: r.cache})
}
