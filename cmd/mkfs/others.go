package main

import (
	"fmt"

	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// other is a format that a prober finds beside an XFS, or beside its log.
type other struct {
	Target string `json:"target"`
	Format string `json:"format"`
	Offset int64  `json:"offset"`
}

const twoFormats = "blkid and mount do not know which it is"

func (o other) String() string {
	return fmt.Sprintf("%s also shows %s, at byte %d: %s", o.Target, o.Format, o.Offset, twoFormats)
}

// others lists what probers find on a target beside what should be there.
func (t *readTarget) others(own string) (list []other) {
	for _, f := range target.Leftovers(t, t.Info().Size, nil, func(s target.Signature) bool { return s.Name == own }) {
		list = append(list, other{t.Info().Name(), f.Name, f.Offset})
	}
	return list
}

// tellOthers says what else was found. Right after the filesystem has been made
// that is a fault. Later it may be in one of its files, and is only worth a note.
func (j *verifyJob) tellOthers(r *verifyResult) {
	for _, o := range r.Others {
		if j.made != nil {
			message := fmt.Sprintf("still shows, at byte %d of %s: %s", o.Offset, o.Target, twoFormats)
			r.report.Add(verify.Fault{AG: -1, Structure: o.Format, Offset: o.Offset, Message: message})
		} else if !j.quiet {
			fmt.Fprintf(j.err, "%s: note: %v\n", j.name, o)
		}
	}
}
