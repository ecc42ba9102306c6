package report

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"mkfs/internal/xlog"
)

// LogState is where a log begins and ends.
type LogState struct {
	Clean bool   `json:"clean"`
	Head  int    `json:"head"` // block of 512 bytes
	Tail  int    `json:"tail"`
	Cycle uint32 `json:"cycle"`
	LSN   string `json:"last_lsn"`
	Torn  bool   `json:"torn"` // records at its end were cut short or damaged
	// Dropped is how long they are in bytes.
	Dropped int64 `json:"dropped_bytes"`
}

func NewLogState(s *xlog.State) LogState {
	return LogState{s.Clean, s.Head, s.Tail, s.Cycle, s.LastLSN.String(), s.Dropped > 0, droppedBytes(s)}
}

func droppedBytes(s *xlog.State) int64 { return int64(s.Dropped) * xlog.BlockSize }

// WithDropped adds to what is said of a log what does not count in it.
func WithDropped(s *xlog.State, text string) string {
	if s.Dropped == 0 {
		return text
	}
	return fmt.Sprintf("%s; the log's last %s were cut short or are damaged, and the changes in them are lost",
		text, humanize.IBytes(uint64(droppedBytes(s))))
}
