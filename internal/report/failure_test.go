package report

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"mkfs/internal/geometry"
)

func TestError(t *testing.T) {
	first := &geometry.Refusal{Option: "-d size", Reason: "too small"}
	line := &geometry.Refusal{Option: "-m rmapbt", Reason: "rmapbt not supported without CRC support", Line: true}
	plain := errors.New("a fault\nof two lines")
	all := fmt.Errorf("wrapped: %w", &geometry.Refusals{List: []error{first, line, plain}})
	for _, c := range []struct {
		err  error
		text string
	}{
		{errors.New("no such file"), "mkfs: no such file\n"},
		{plain, "mkfs: a fault\nmkfs: of two lines\n"},
		{all, "mkfs: " + first.Error() + "\nrmapbt not supported without CRC support\nmkfs: a fault\nmkfs: of two lines\n"},
	} {
		var out bytes.Buffer
		if Error(&out, "mkfs", c.err); out.String() != c.text {
			t.Errorf("%q, want %q", out.String(), c.text)
		}
	}
	f := NewFailure(all, 1)
	want := []Fault{{"-d size", "too small"}, {"-m rmapbt", line.Reason}, {"", plain.Error()}}
	if f.Exit != 1 || fmt.Sprint(f.Faults) != fmt.Sprint(want) || bytes.ContainsRune([]byte(f.Error), '\n') {
		t.Errorf("%+v", f)
	}
}
