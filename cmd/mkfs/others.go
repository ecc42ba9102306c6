package main

import (
	"fmt"

	"mkfs/internal/report"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// others lists what probers find on a target beside what should be there.
func (t *readTarget) others(own string) (list []report.Other) {
	for _, f := range target.Leftovers(t, t.Info().Size, nil, func(s target.Signature) bool { return s.Name == own }) {
		list = append(list, report.Other{Target: t.Info().Name(), Format: f.Name, Offset: f.Offset})
	}
	return list
}

// tellOthers says what else was found. Right after the filesystem has been made
// that is a fault. Later it may be in one of its files, and is only worth a note.
func (j *verifyJob) tellOthers(r *report.Verification) {
	for _, o := range r.Others {
		if j.made != nil {
			message := fmt.Sprintf("still shows, at byte %d of %s: %s", o.Offset, o.Target, report.TwoFormats)
			r.Report.Add(verify.Fault{AG: -1, Structure: o.Format, Offset: o.Offset, Message: message})
		} else if !j.quiet {
			fmt.Fprintf(j.err, "%s: note: %v\n", j.name, o)
		}
	}
}
