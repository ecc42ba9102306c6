// Package report is what the program prints: the table that mkfs.xfs prints, and
// for each command what it has to say, as text or as one JSON object.
package report

import (
	"encoding/json"
	"io"
)

// JSON prints an object.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
