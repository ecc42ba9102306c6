package report

import (
	"fmt"
	"io"

	"mkfs/internal/against"
	"mkfs/internal/verify"
)

// Verification is what mkfs verify has found.
type Verification struct {
	Target    string          `json:"target"`
	Partition int             `json:"partition,omitempty"`
	Status    string          `json:"status"` // clean, faults, unreadable or dirty log
	AGs       int64           `json:"ags"`
	Log       verify.LogState `json:"log"`
	Faults    []verify.Fault  `json:"faults"` // the first ones
	Count     int64           `json:"fault_count"`
	Others    []Other         `json:"other_formats,omitempty"` // that probers find beside the XFS
	Sums      verify.Sums     `json:"counts"`
	Compared  bool            `json:"counts_compared"`
	Against   *Comparison     `json:"against,omitempty"`
	Error     string          `json:"error,omitempty"`
	Seconds   float64         `json:"seconds"`
	Engine    string          `json:"engine"`
	Depth     float64         `json:"depth_average"`
	Reads     int64           `json:"reads"`
	Bytes     int64           `json:"bytes"`

	Report verify.Report `json:"-"`
}

// Comparison is what was found of the files of a filesystem beside a tree.
type Comparison struct {
	Source string `json:"source"`
	against.Counts
	Differences []against.Difference `json:"first_differences"`
	Left        string               `json:"not_compared,omitempty"` // why nothing was compared
}

// Outcome is that of the headers, and of the comparison.
func (v *Verification) Outcome() verify.Status {
	if c := v.Against; c != nil && c.Counts.Differences > 0 {
		return verify.Faulty
	}
	return v.Report.Status()
}

// Other is a format that a prober finds beside an XFS, or beside its log.
type Other struct {
	Target string `json:"target"`
	Format string `json:"format"`
	Offset int64  `json:"offset"`
}

// TwoFormats is why another format matters.
const TwoFormats = "blkid and mount do not know which it is"

func (o Other) String() string {
	return fmt.Sprintf("%s also shows %s, at byte %d: %s", o.Target, o.Format, o.Offset, TwoFormats)
}

// Print prints the faults, a line each, and unless quiet what was looked at.
func (v *Verification) Print(w io.Writer, quiet bool) error {
	for _, f := range v.Report.Faults {
		fmt.Fprintln(w, f)
	}
	if more := v.Report.Count - int64(len(v.Report.Faults)); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	if c := v.Against; c != nil {
		for _, d := range c.Differences {
			fmt.Fprintln(w, d)
		}
		if more := c.Counts.Differences - int64(len(c.Differences)); more > 0 {
			fmt.Fprintf(w, "and %s more\n", plural(more, "difference"))
		}
	}
	if quiet || v.Error != "" {
		return nil
	}
	faults := "no faults"
	if n := v.Report.Count; n > 0 {
		faults = plural(n, "fault")
	}
	_, err := fmt.Fprintf(w, "%s: %s, log %s, %s\n", v.Target, plural(v.Report.AGs, "AG"), v.Report.Log, faults)
	if v.Against != nil {
		_, err = fmt.Fprintln(w, v.Against)
	}
	return err
}

// String is the comparison in a line.
func (c *Comparison) String() string {
	if c.Left != "" {
		return fmt.Sprintf("%s: not compared (%s)", c.Source, c.Left)
	}
	differences := "no differences"
	if n := c.Counts.Differences; n > 0 {
		differences = plural(n, "difference")
	}
	entries := fmt.Sprintf("%d entries", c.Entries)
	if c.Entries == 1 {
		entries = "1 entry"
	}
	return fmt.Sprintf("%s: %s, %s of data, %s", c.Source, entries, plural(c.Bytes, "byte"), differences)
}

// PrintJSON prints all of it as an object.
func (v *Verification) PrintJSON(w io.Writer) error {
	v.fill()
	return JSON(w, v)
}

// Unverified is the object of a filesystem that could not be looked at.
func Unverified(err error) any {
	v := &Verification{Status: verify.Unreadable.String(), Error: err.Error()}
	v.fill()
	return v
}

func (v *Verification) fill() {
	p := &v.Report
	v.AGs, v.Log, v.Count, v.Sums, v.Compared = p.AGs, p.Log, p.Count, p.Sums, p.Compared
	v.Faults = append([]verify.Fault{}, p.Faults...) // [] and not null
	if v.Log == "" {
		v.Log = verify.LogUnknown
	}
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
