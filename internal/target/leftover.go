package target

import (
	"io"
	"slices"
)

// Leftover is what a prober finds on a target beside what the target is for.
type Leftover struct {
	Signature
	// Extents are what to zero so that no prober finds it, older and newer ones.
	Extents []Window
}

// Laid is a range that will be, or may be taken to be, other than it is: Data,
// and zeros behind it up to Length.
type Laid struct {
	Window
	Data []byte
}

// Leftovers returns what a prober finds on the size bytes of r, with over laid on
// them in that order, but for what own reports to be what it should find.
//
// Signatures stops at the first copy of a format, and some hide others. This
// goes on as if what was found were zeros, until there is nothing more.
//
// What cannot be read shows a prober nothing either, and counts as zeros.
func Leftovers(r io.ReaderAt, size int64, over []Laid, own func(Signature) bool) []Leftover {
	v := newView(lenient{r}, size)
	over = slices.Clone(over)
	var found []Leftover
	add := func(f Leftover) {
		found = append(found, f)
		for _, w := range f.Extents {
			over = append(over, Laid{Window: w})
		}
	}
	for _, f := range wider(v, own) {
		add(f)
	}
	for {
		again, _ := v.with(over).signatures() // lenient has no errors
		before := len(found)
		for _, s := range again {
			known := func(f Leftover) bool { return f.Name == s.Name && f.Offset == s.Offset }
			if !own(s) && !slices.ContainsFunc(found, known) {
				add(Leftover{s, formatOf(s).extents(s.Offset, size)})
			}
		}
		if len(found) == before {
			return found
		}
	}
}

// wider finds those formats that reach further than what Laid hides of them.
func wider(v *view, own func(Signature) bool) (found []Leftover) {
	for i := range formats {
		f := &formats[i]
		if f.whole == nil || v.size <= 1024 {
			continue
		}
		if off, ok := f.find(v); ok && !own(f.signature(v, off)) {
			found = append(found, Leftover{f.signature(v, off), f.extents(off, v.size)})
		}
	}
	return found
}

func formatOf(s Signature) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == s.Name })]
}

// extents are what makes the format known when its magic number is at off: the
// block of 4 KiB around that, unless the table says otherwise.
func (f *format) extents(off, size int64) (list []Window) {
	const block = 4 * kib
	list = []Window{{Offset: off - off%block, Length: block}}
	if f.whole != nil {
		list = f.whole(size)
	}
	for i, w := range list {
		list[i].Length = min(w.Length, size-w.Offset)
	}
	return list
}

// lenient reads zeros where there is nothing or it cannot be read.
type lenient struct{ r io.ReaderAt }

func (l lenient) ReadAt(p []byte, off int64) (int, error) {
	n, _ := l.r.ReadAt(p, off)
	clear(p[n:])
	return len(p), nil
}

// with is a view of the same with ranges laid over it, in their order.
func (v *view) with(over []Laid) *view {
	return &view{size: v.size, chunks: map[int64][]byte{}, below: v, over: slices.Clone(over)}
}

// overlaid returns p, which is at off, with ranges laid over it: p itself if none
// touches it.
func overlaid(over []Laid, p []byte, off int64) []byte {
	copied := false
	for _, o := range over {
		from, to := max(o.Offset, off), min(o.Offset+o.Length, off+int64(len(p)))
		if from >= to {
			continue
		}
		if !copied {
			p, copied = slices.Clone(p), true
		}
		part := p[from-off : to-off]
		clear(part)
		if skip := from - o.Offset; skip < int64(len(o.Data)) {
			copy(part, o.Data[skip:])
		}
	}
	return p
}
