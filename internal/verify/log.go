package verify

import (
	"errors"
	"fmt"

	"mkfs/internal/xlog"
)

// logSource reads the log for xlog.
type logSource struct {
	v    *verifier
	dev  *Device
	base int64
}

func (s logSource) ReadAt(p []byte, off int64) (int, error) {
	b, err := s.v.read(s.dev, s.base+off, int64(len(p)))
	return copy(p, b), err
}

// log finds out whether the log is clean: whether the last record before its
// head is the note that the filesystem was unmounted. The primary superblock
// must not be ahead of it.
func (v *verifier) log() error {
	fs := &v.fs
	size := int64(fs.LogSize())
	src := logSource{v: v, dev: &v.Data}
	ag, off := int64(-1), int64(0)
	if fs.SB.LogStart != 0 {
		at, ok := fs.InternalLog()
		if !ok || int64(at)+size > v.Data.Size {
			return nil
		}
		agno, _, _ := fs.Split(fs.SB.LogStart, 1)
		ag, off, src.base = int64(agno), int64(at), int64(at)
	} else {
		if v.Log == nil || size == 0 {
			return nil
		}
		src.dev = v.Log
	}
	tell := func(message string) {
		v.report.Log = LogFaulty
		v.report.Add(Fault{AG: ag, Structure: placeLog.String(), Offset: off, Message: message})
	}
	if src.base+size > src.dev.Size {
		tell(fmt.Sprintf("it has %d bytes, its device %d", size, src.dev.Size))
		return nil
	}
	state, err := xlog.New(src, fs.Log()).Find()
	switch {
	case errors.As(err, new(*xlog.Corrupt)) || errors.Is(err, xlog.ErrForeign):
		tell(err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("log: %w", err)
	case state.Empty:
		tell("there is no record in it")
	case state.Clean:
		v.report.Log, fs.settled = LogClean, true
	default:
		v.report.Log = LogDirty
	}
	if v.Live {
		return nil
	}
	fs.head = state.HeadLSN()
	if text := fs.AheadOfLog(fs.head); text != "" {
		v.fault(0, placeSuperblock, 0, text)
	}
	return nil
}
