package target

import (
	"fmt"
	"io"
)

// Window is a part of a target that is used as if it were one: a partition, or
// a filesystem that begins somewhere in a disk image.
type Window struct {
	Offset int64
	Length int64 // 0 for all that follows
}

// String says where the window is.
func (w Window) String() string {
	return fmt.Sprintf("bytes %d to %d", w.Offset, w.Offset+w.Length-1)
}

// Overlaps reports whether two windows, each with its length, have bytes in common.
func (w Window) Overlaps(o Window) bool {
	if w.Offset > o.Offset {
		w, o = o, w
	}
	return o.Length > 0 && o.Offset-w.Offset < w.Length
}

// AtLeast is in with sectors of no less than n bytes: an image has those of the
// disk that it is for, which its partition table counts in.
func (in Info) AtLeast(n int) Info {
	in.LogicalSector, in.PhysicalSector = max(n, in.LogicalSector), max(n, in.PhysicalSector)
	return in
}

// Within is the description of a part of what in describes, which must lie in
// it and consist of whole sectors: of a file those of 512 bytes, whatever its
// host has.
func (in Info) Within(w Window) (Info, error) {
	sector := int64(in.LogicalSector)
	if in.Kind == File {
		sector = 512
	}
	switch {
	case w.Offset < 0 || w.Length < 0:
		return in, fmt.Errorf("%s: a part of it cannot have an offset of %d and a length of %d bytes", in.Path, w.Offset,
			w.Length)
	case w.Offset >= in.Size:
		return in, fmt.Errorf("%s has %d bytes; nothing of it begins at byte %d", in.Path, in.Size, w.Offset)
	case w.Offset%sector != 0:
		return in, fmt.Errorf("%s: byte %d is no start of a sector of %d bytes", in.Path, w.Offset, sector)
	case w.Length > in.Size-w.Offset:
		return in, fmt.Errorf("%s has %d bytes, too few for %d bytes from byte %d on", in.Path, in.Size, w.Length, w.Offset)
	case w.Length%sector != 0:
		return in, fmt.Errorf("%s: a length of %d bytes is no multiple of its sectors of %d", in.Path, w.Length, sector)
	}
	if w.Length == 0 {
		w.Length = (in.Size - w.Offset) &^ (sector - 1)
	}
	in.Part, in.Offset, in.Size = true, in.Offset+w.Offset, w.Length
	if w.Offset%int64(in.PhysicalSector) != 0 {
		in.Misaligned = !in.Misaligned // a misaligned device may have parts that are not
	}
	return in, nil
}

// Name is the path, and for a part of it where that begins.
func (in Info) Name() string {
	if !in.Part {
		return in.Path
	}
	return fmt.Sprintf("%s (from byte %d)", in.Path, in.Offset)
}

// readPart is ReadAt of a part, which ends where the part does.
func (t *Target) readPart(p []byte, off int64) (int, error) {
	return io.NewSectionReader(t.small, t.info.Offset, t.info.Size).ReadAt(p, off)
}

// writePart is WriteAt of a part. It writes nothing of what does not fit.
func (t *Target) writePart(p []byte, off int64) (int, error) {
	if off < 0 || int64(len(p)) > t.info.Size-off {
		return 0, fmt.Errorf("%s: %d bytes at %d are not within its %d", t.info.Name(), len(p), off, t.info.Size)
	}
	return t.small.WriteAt(p, t.info.Offset+off)
}

// NextData returns the first piece of [off, end) that may hold anything but
// zeros, as far as that is known without reading. If there is none then from
// and to are both end.
func (t *Target) NextData(off, end int64) (from, to int64, err error) {
	if t.info.Kind != File {
		return off, end, nil
	}
	from, to, err = t.nextData(t.info.Offset+off, t.info.Offset+end)
	if err != nil {
		return 0, 0, pathError(t.info.Path, "look for data", err)
	}
	return from - t.info.Offset, to - t.info.Offset, nil
}
