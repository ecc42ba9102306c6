package report

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"mkfs/internal/undo"
)

// Undone is what mkfs undo has put back.
type Undone struct {
	Target  string        `json:"target"`
	File    string        `json:"file"`
	DryRun  bool          `json:"dry_run,omitempty"`
	UUID    string        `json:"uuid"` // of the filesystem that is gone
	Records int64         `json:"records"`
	Bytes   int64         `json:"bytes"` // of data
	Devices []undo.Device `json:"devices"`
}

// Print prints a line about it.
func (u *Undone) Print(w io.Writer) error {
	did := "is as it was before"
	switch {
	case u.DryRun:
		did = "can be made as it was before"
	case u.Devices[0].Created:
		did = "is gone, as it was before"
	}
	_, err := fmt.Fprintf(w, "%s %s (%s put back)\n", u.Target, did, humanize.IBytes(uint64(u.Bytes)))
	return err
}
