package report

import "mkfs/internal/format"

// Tree is what the filesystem was filled with by -p.
type Tree struct {
	Source      string `json:"source"`
	Entries     int64  `json:"entries"`
	Directories int64  `json:"directories"`
	Files       int64  `json:"files"`
	Links       int64  `json:"hard_links"` // further names of files
	Symlinks    int64  `json:"symlinks"`
	Devices     int64  `json:"devices"`
	Pipes       int64  `json:"fifos_and_sockets"`
	Attributes  int64  `json:"attributes"`
	Bytes       int64  `json:"data_bytes"`
	Holes       int64  `json:"hole_bytes"`        // kept
	Skipped     int64  `json:"skipped,omitempty"` // that could not be read
	// How often metadata blocks were changed, and written: the rest was saved by waiting.
	Changes int64 `json:"metadata_changes"`
	Writes  int64 `json:"metadata_writes"`
	Saved   int64 `json:"metadata_changes_saved"`
}

// NewTree tells what was made of a source.
func NewTree(source string, s format.Stats, skipped int64) *Tree {
	n, c := &s.Filled, &s.Cache
	return &Tree{
		Source: source, Entries: n.Entries, Directories: n.Directories, Files: n.Files, Links: n.Links,
		Symlinks: n.Symlinks, Devices: n.Devices, Pipes: n.Pipes, Attributes: n.Attributes,
		Bytes: n.Bytes, Holes: n.Holes, Skipped: skipped, Changes: c.Changes, Writes: c.Writes, Saved: c.Saved(),
	}
}
