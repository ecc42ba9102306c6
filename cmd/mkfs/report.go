package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"mkfs/internal/aginit"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
)

// jsonReport is what --json prints, one object on stdout.
type jsonReport struct {
	Target   string        `json:"target"`
	Offset   int64         `json:"offset_bytes,omitempty"` // of the part of it that is used
	DryRun   bool          `json:"dry_run,omitempty"`
	Config   string        `json:"config,omitempty"` // the file that was made in place of a filesystem
	Dense    bool          `json:"dense"`            // zeros are data too
	Kept     bool          `json:"kept,omitempty"`   // --ensure wrote nothing
	Growth   *jsonGrowth   `json:"growth,omitempty"`
	Presets  []string      `json:"presets,omitempty"`
	UUID     string        `json:"uuid,omitempty"`
	Label    string        `json:"label"`
	Geometry jsonGeometry  `json:"geometry"`
	Features jsonFeatures  `json:"features"`
	Space    *jsonSpace    `json:"space,omitempty"` // none of what was kept
	Warnings []string      `json:"warnings,omitempty"`
	Undo     *jsonUndo     `json:"undo,omitempty"`
	Work     *jsonCounters `json:"work,omitempty"`
}

// jsonUndo tells where what was overwritten is kept.
type jsonUndo struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // of data
}

// jsonGrowth is what --plan-for plans for.
type jsonGrowth struct {
	Bytes      int64  `json:"bytes"`
	AGCount    uint64 `json:"ag_count"`
	AGCountNow uint64 `json:"ag_count_now"`
}

// jsonSpace is what df shows once the filesystem is mounted.
type jsonSpace struct {
	Total     int64  `json:"total_bytes"`
	Usable    int64  `json:"usable_bytes"`
	Reserved  int64  `json:"reserved_bytes"`
	MaxInodes uint64 `json:"max_inodes"`
}

type jsonGeometry struct {
	BlockSize       int64   `json:"block_size"`
	SectorSize      int64   `json:"sector_size"`
	InodeSize       int64   `json:"inode_size"`
	DirBlockSize    int64   `json:"dir_block_size"`
	Blocks          uint64  `json:"blocks"`
	Bytes           int64   `json:"bytes"`
	AGCount         uint32  `json:"ag_count"`
	AGBlocks        uint64  `json:"ag_blocks"`
	AGBytes         int64   `json:"ag_bytes"`
	StripeUnit      int64   `json:"stripe_unit_bytes"`
	StripeWidth     int64   `json:"stripe_width_bytes"`
	MaxInodePercent int     `json:"max_inode_percent"`
	RootInode       uint64  `json:"root_inode"`
	Log             jsonLog `json:"log"`

	Realtime *jsonRealtime `json:"realtime,omitempty"` // none without such a section
}

type jsonRealtime struct {
	Device     string `json:"device,omitempty"`
	Start      int64  `json:"start_bytes"` // on the target, 0 on a device of its own
	Blocks     uint64 `json:"blocks"`
	Bytes      int64  `json:"bytes"`
	Extent     int64  `json:"extent_bytes"`
	Extents    uint64 `json:"extents"`
	GroupCount uint32 `json:"group_count"`
	GroupBytes int64  `json:"group_bytes"`
	Reserved   int64  `json:"reserved_bytes"`
}

type jsonLog struct {
	External   bool   `json:"external"`
	Device     string `json:"device,omitempty"`
	AG         uint32 `json:"ag"`
	Start      int64  `json:"start_bytes"`
	Blocks     uint64 `json:"blocks"`
	Bytes      int64  `json:"bytes"`
	MinBlocks  uint64 `json:"min_blocks,omitempty"`
	SectorSize int64  `json:"sector_size"`
	StripeUnit int64  `json:"stripe_unit_bytes"`
	Version    int    `json:"version"`
}

type jsonFeatures struct {
	CRC        bool   `json:"crc"`
	Finobt     bool   `json:"finobt"`
	InobtCount bool   `json:"inobtcount"`
	Rmapbt     bool   `json:"rmapbt"`
	Reflink    bool   `json:"reflink"`
	Bigtime    bool   `json:"bigtime"`
	Sparse     bool   `json:"sparse"`
	Nrext64    bool   `json:"nrext64"`
	Exchange   bool   `json:"exchange"`
	Parent     bool   `json:"parent"`
	Metadir    bool   `json:"metadir"`
	Zoned      bool   `json:"zoned"`
	Quota      uint16 `json:"quota_flags"`
	Ftype      bool   `json:"ftype"`
	CaseFold   bool   `json:"ascii_ci"`
	LazyCount  bool   `json:"lazy_count"`
	Projid32   bool   `json:"projid32bit"`
	Autofsck   string `json:"autofsck,omitempty"`
}

// jsonCounters tell how the work was done.
type jsonCounters struct {
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

// jsonFailure is what --json prints when there is no filesystem.
type jsonFailure struct {
	Error  string      `json:"error"`
	Exit   int         `json:"exit_status"`
	Faults []jsonFault `json:"faults,omitempty"`
}

type jsonFault struct {
	Option  string `json:"option,omitempty"`
	Message string `json:"message"`
}

func (j *job) newReport(g *geometry.Geometry, p *places, who *aginit.Identity, notes geometry.Notes) jsonReport {
	r := jsonReport{
		Target: p.data.path, Offset: p.data.info.Offset, Label: g.Label, Dense: j.dense, Warnings: append(notes.Notices, notes.Warnings...),
		Geometry: newJSONGeometry(g, p.logName(), p.rtName()), Features: newJSONFeatures(g),
	}
	if at := j.parser.Request.Spec.PlanFor; at.Given {
		n := at.Value.On(g)
		r.Growth = &jsonGrowth{int64(n), uint64(g.AGsAt(n)), uint64(g.AGCount)}
	}
	if g.Contents != nil {
		r.Space = newJSONSpace(g, g.Counts())
	}
	for _, p := range j.chosen {
		r.Presets = append(r.Presets, p.Name)
	}
	if who != nil {
		r.UUID = uuid.UUID(who.UUID).String()
	}
	return r
}

func newJSONGeometry(g *geometry.Geometry, log, rt string) jsonGeometry {
	r := jsonGeometry{
		BlockSize: int64(g.BlockSize), SectorSize: int64(g.SectorSize),
		InodeSize: int64(g.InodeSize), DirBlockSize: int64(g.DirBlockSize),
		Blocks: uint64(g.Blocks), Bytes: int64(g.Bytes(g.Blocks)),
		AGCount: uint32(g.AGCount), AGBlocks: uint64(g.AGBlocks), AGBytes: int64(g.Bytes(g.AGBlocks)),
		StripeUnit: int64(g.Bytes(g.StripeUnit)), StripeWidth: int64(g.Bytes(g.StripeWidth)),
		MaxInodePercent: g.MaxInodePercent, RootInode: uint64(g.RootInode()),
		Log: jsonLog{
			External: g.Log.External, Device: log, AG: uint32(g.Log.AG),
			Blocks: uint64(g.Log.Blocks), Bytes: int64(g.Bytes(g.Log.Blocks)), MinBlocks: uint64(g.Log.MinBlocks),
			SectorSize: int64(g.Log.SectorSize), StripeUnit: int64(g.Bytes(g.Log.StripeUnit)), Version: g.Features.LogVersion,
		},
	}
	if !g.Log.External {
		r.Log.Start = int64(g.Offset(g.Log.AG, g.Log.Start))
	}
	if t := &g.RT; t.Blocks > 0 {
		r.Realtime = &jsonRealtime{
			Device: rt, Start: int64(g.Bytes(t.Start)), Blocks: uint64(t.Blocks), Bytes: int64(g.Bytes(t.Blocks)),
			Extent: int64(g.Bytes(t.Extent)), Extents: t.Extents(),
			GroupCount: uint32(t.GroupCount), GroupBytes: int64(g.Bytes(t.GroupBlocks)), Reserved: int64(g.Bytes(t.Reserved)),
		}
	}
	return r
}

func newJSONSpace(g *geometry.Geometry, n geometry.Counts) *jsonSpace {
	c := g.Capacity(n)
	return &jsonSpace{int64(g.Bytes(c.Total)), int64(g.Bytes(c.Usable)), int64(g.Bytes(c.Reserved)), c.Inodes}
}

func newJSONFeatures(g *geometry.Geometry) jsonFeatures {
	f := &g.Features
	return jsonFeatures{
		CRC: f.CRC, Finobt: f.Finobt, InobtCount: f.InobtCount, Rmapbt: f.Rmapbt, Reflink: f.Reflink,
		Bigtime: f.Bigtime, Sparse: f.Sparse, Nrext64: f.Nrext64, Exchange: f.Exchange, Parent: f.Parent,
		Metadir: f.Metadir, Zoned: f.Zoned, Quota: uint16(f.Quota),
		Ftype: f.Ftype, CaseFold: f.CaseFold, LazyCount: f.LazyCount, Projid32: f.Projid32,
		Autofsck: string(f.Autofsck),
	}
}

func newCounters(s format.Stats, direct bool, elapsed time.Duration) *jsonCounters {
	return &jsonCounters{
		Engine: s.Engine, Direct: direct, Depth: s.Ring.Depth, AGs: s.AGs,
		Buffers: s.Lists.Buffers, Requests: s.Lists.Requests, Bytes: s.Lists.Bytes,
		Seconds: elapsed.Seconds(), AverageDepth: s.Ring.AverageDepth, PeakDepth: s.Ring.PeakDepth,
	}
}

// newFailure makes an object of an error: each refusal with its option.
func newFailure(err error, status int) jsonFailure {
	f := jsonFailure{Error: strings.ReplaceAll(err.Error(), "\n", "; "), Exit: status}
	var all *geometry.Refusals
	if !errors.As(err, &all) {
		return f
	}
	for _, e := range all.List {
		var r *geometry.Refusal
		if errors.As(e, &r) {
			f.Faults = append(f.Faults, jsonFault{r.Option, r.Reason})
		} else {
			f.Faults = append(f.Faults, jsonFault{Message: e.Error()})
		}
	}
	return f
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
