package report

import (
	"mkfs/internal/geometry"

	"time"

	"mkfs/internal/format"
)

// Made is what --json prints, one object on stdout.
type Made struct {
	Target   string   `json:"target"`
	Offset   int64    `json:"offset_bytes,omitempty"` // of the part of it that is used
	DryRun   bool     `json:"dry_run,omitempty"`
	Config   string   `json:"config,omitempty"` // the file that was made in place of a filesystem
	Dense    bool     `json:"dense"`            // zeros are data too
	Kept     bool     `json:"kept,omitempty"`   // --ensure wrote nothing
	Growth   *Growth  `json:"growth,omitempty"`
	Presets  []string `json:"presets,omitempty"`
	UUID     string   `json:"uuid,omitempty"`
	Label    string   `json:"label"`
	Geometry Geometry `json:"geometry"`
	Features Features `json:"features"`
	Space    *Space   `json:"space,omitempty"` // none of what was kept
	Warnings []string `json:"warnings,omitempty"`
	Undo     *Undo    `json:"undo,omitempty"`
	Tree     *Tree    `json:"tree,omitempty"`
	Work     *Work    `json:"work,omitempty"`
}

// Undo tells where what was overwritten is kept.
type Undo struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // of data
}

// Growth is what --plan-for plans for.
type Growth struct {
	Bytes      int64  `json:"bytes"`
	AGCount    uint64 `json:"ag_count"`
	AGCountNow uint64 `json:"ag_count_now"`
}

// NewGrowth tells of growing to n bytes.
func NewGrowth(g *geometry.Geometry, n geometry.Bytes) *Growth {
	return &Growth{Bytes: int64(n), AGCount: uint64(g.AGsAt(n)), AGCountNow: uint64(g.AGCount)}
}

// Work tell how the work was done.
type Work struct {
	Engine       string  `json:"engine"`
	Direct       bool    `json:"direct"`
	Depth        int     `json:"queue_depth"`
	AGs          int64   `json:"ags"`
	Buffers      int64   `json:"buffers"`
	Requests     int64   `json:"requests"`
	Bytes        int64   `json:"bytes"`
	Seconds      float64 `json:"seconds"`
	AverageDepth float64 `json:"average_depth"`
	PeakDepth    int     `json:"peak_depth"`
}

func NewWork(s format.Stats, direct bool, elapsed time.Duration) *Work {
	return &Work{
		Engine: s.Engine, Direct: direct, Depth: s.Ring.Depth, AGs: s.AGs,
		Buffers: s.Lists.Buffers, Requests: s.Lists.Requests, Bytes: s.Lists.Bytes,
		Seconds: elapsed.Seconds(), AverageDepth: s.Ring.AverageDepth, PeakDepth: s.Ring.PeakDepth,
	}
}
