package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
	"mkfs/internal/verify"
)

// Recovery is what mkfs recover has done.
type Recovery struct {
	Target    string           `json:"target"`
	Partition int              `json:"partition,omitempty"`
	Copy      string           `json:"copy,omitempty"`
	CopyLog   string           `json:"copy_log,omitempty"`
	Copied    int64            `json:"copied_bytes,omitempty"`   // of a device: read, and zeros not written
	LeftOut   int64            `json:"left_out_bytes,omitempty"` // of a device: free
	DryRun    bool             `json:"dry_run,omitempty"`
	Status    string           `json:"status"` // clean, dirty log, faults or unreadable
	Log       LogState         `json:"log"`    // as it was found
	Stats     recovery.Stats   `json:"replayed"`
	Remains   recovery.Remains `json:"remains"`
	UUID      string           `json:"uuid,omitempty"` // that it was given
	Error     string           `json:"error,omitempty"`
	Seconds   float64          `json:"seconds"`
	Engine    string           `json:"engine"`
	Depth     float64          `json:"depth_average"`
	Bytes     int64            `json:"bytes"`

	Report recovery.Report `json:"-"`
	asked  *ondisk.UUID    // the UUID to give; nil for none
}

// Give notes the UUID that the filesystem was to be given; nil for none.
func (r *Recovery) Give(id *ondisk.UUID) { r.asked = id }

// Print prints a line about what was done to name.
func (r *Recovery) Print(w io.Writer, name string) error {
	text := r.summary()
	switch {
	case r.Report.Renamed:
		text += fmt.Sprintf("; the UUID is %v now", uuid.UUID(*r.asked))
	case r.asked != nil && !r.Report.Finished:
		text += "; the UUID is what it was"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", name, text)
	return err
}

// PrintJSON prints all of it as an object, and the error that it ended with.
func (r *Recovery) PrintJSON(w io.Writer, status verify.Status, err error) error {
	p := &r.Report
	r.Status, r.Stats, r.Remains, r.Log = status.String(), p.Stats, p.Remains, NewLogState(&p.Log)
	if p.Renamed {
		r.UUID = uuid.UUID(*r.asked).String()
	}
	if err != nil {
		r.Error = err.Error()
	}
	return JSON(w, r)
}

func (r *Recovery) summary() string {
	p := &r.Report
	if p.Log.Clean && p.Log.Dropped > 0 {
		now := "the log is clean now"
		if r.DryRun {
			now = "the log would be clean then"
		}
		return WithDropped(&p.Log, "there is nothing to replay, but records to clear behind the log's head") + "; " + now
	}
	if p.Log.Clean && p.Renamed {
		return "the log is clean"
	}
	if p.Log.Clean {
		return "the log is clean; nothing to do"
	}
	replayed := "replayed"
	if r.DryRun {
		replayed = "would replay"
	}
	text := fmt.Sprintf("%s %s of %s to %s", replayed, plural(items(p), "item"), plural(p.Stats.Transactions,
		"checkpoint"), plural(p.Stats.Written, "block"))
	if r.DryRun {
		text = fmt.Sprintf("%s %s of %s", replayed, plural(items(p), "item"), plural(p.Stats.Transactions, "checkpoint"))
	}
	text = WithDropped(&p.Log, text)
	switch {
	case !p.Finished:
		return text + "; for the kernel remain " + remains(&p.Remains) +
			"; the log stays dirty, and the next mount finishes it"
	case r.DryRun:
		return text + "; the log would be clean then"
	}
	return text + "; the log is clean now"
}

func items(p *recovery.Report) (n int64) {
	for _, k := range p.Stats.Items {
		n += k
	}
	return n
}

// remains lists the work that remains.
func remains(r *recovery.Remains) string {
	var list []string
	for work, n := range r.Intents {
		list = append(list, plural(n, work))
	}
	slices.Sort(list)
	if r.Unlinked > 0 {
		list = append(list, plural(r.Unlinked, "deleted file"))
	}
	if r.Staging > 0 {
		list = append(list, plural(r.Staging, "extent")+" set aside for copies on write")
	}
	return strings.Join(list, ", ")
}
