package main

import (
	"fmt"

	"mkfs/internal/verify"
)

// verifyResult is a verification as --json prints it.
type verifyResult struct {
	Target    string          `json:"target"`
	Partition int             `json:"partition,omitempty"`
	Status    string          `json:"status"` // clean, faults, unreadable or dirty log
	AGs       int64           `json:"ags"`
	Log       verify.LogState `json:"log"`
	Faults    []verify.Fault  `json:"faults"` // the first ones
	Count     int64           `json:"fault_count"`
	Others    []other         `json:"other_formats,omitempty"` // that probers find beside the XFS
	Sums      verify.Sums     `json:"counts"`
	Compared  bool            `json:"counts_compared"`
	Error     string          `json:"error,omitempty"`
	Seconds   float64         `json:"seconds"`
	Engine    string          `json:"engine"`
	Depth     float64         `json:"depth_average"`
	Reads     int64           `json:"reads"`
	Bytes     int64           `json:"bytes"`

	report verify.Report
}

func (j *verifyJob) print(r *verifyResult) error {
	if j.json {
		return j.printJSON(r)
	}
	for _, f := range r.report.Faults {
		fmt.Fprintln(j.out, f)
	}
	if more := r.report.Count - int64(len(r.report.Faults)); more > 0 {
		fmt.Fprintf(j.out, "and %d more\n", more)
	}
	if j.quiet || r.Error != "" {
		return nil
	}
	faults := "no faults"
	if n := r.report.Count; n > 0 {
		faults = plural(n, "fault")
	}
	_, err := fmt.Fprintf(j.out, "%s: %s, log %s, %s\n", r.Target, plural(r.report.AGs, "AG"), r.report.Log, faults)
	return err
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (j *verifyJob) printJSON(r *verifyResult) error {
	p := &r.report
	r.AGs, r.Log, r.Count, r.Sums, r.Compared = p.AGs, p.Log, p.Count, p.Sums, p.Compared
	r.Faults = append([]verify.Fault{}, p.Faults...) // [] and not null
	if r.Log == "" {
		r.Log = verify.LogUnknown
	}
	return printJSON(j.out, r)
}
