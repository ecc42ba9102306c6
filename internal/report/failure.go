package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"mkfs/internal/geometry"
)

// Failure is what --json prints when there is no filesystem.
type Failure struct {
	Error  string  `json:"error"`
	Exit   int     `json:"exit_status"`
	Faults []Fault `json:"faults,omitempty"`
}

type Fault struct {
	Option  string `json:"option,omitempty"`
	Message string `json:"message"`
}

// NewFailure makes an object of an error: each refusal with its option.
func NewFailure(err error, status int) Failure {
	f := Failure{Error: strings.ReplaceAll(err.Error(), "\n", "; "), Exit: status}
	var all *geometry.Refusals
	if !errors.As(err, &all) {
		return f
	}
	for _, e := range all.List {
		var r *geometry.Refusal
		if errors.As(e, &r) {
			f.Faults = append(f.Faults, Fault{r.Option, r.Reason})
		} else {
			f.Faults = append(f.Faults, Fault{Message: e.Error()})
		}
	}
	return f
}

// Error prints an error, a line for each thing that is wrong.
func Error(w io.Writer, name string, err error) {
	list := []error{err}
	if refusals := (*geometry.Refusals)(nil); errors.As(err, &refusals) {
		list = refusals.List
	}
	for _, e := range list {
		if r, ok := e.(*geometry.Refusal); ok && r.Line {
			fmt.Fprintln(w, r.Reason)
			continue
		}
		for line := range strings.SplitSeq(e.Error(), "\n") {
			fmt.Fprintf(w, "%s: %s\n", name, line)
		}
	}
}
