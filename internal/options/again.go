package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mkfs/internal/geometry"
)

// Again is a configuration file that makes a filesystem again that is there.
type Again struct {
	// Text is the file: settings that fix all that a device or defaults would
	// settle otherwise, and comments on what settings cannot say. Devices and what
	// identifies a filesystem, its UUID and label, are not among the settings: no
	// two filesystems share them, and a UUID in the file would go before one of the
	// command line. A comment has the command line that gives them, with which all
	// bytes of the new filesystem are those of the first one when it was new.
	Text string
	// Differ tells in which ways what the settings make would not be the same;
	// empty if it would.
	Differ []string
}

// ConfigAgain is the file for a filesystem of which g is all that it records.
// rootKnown tells whether that includes what its root directory says.
func ConfigAgain(g *geometry.Geometry, id fmt.Stringer, rootKnown bool) Again {
	had := *g
	var comments []string
	comment := func(format string, args ...any) { comments = append(comments, fmt.Sprintf(format, args...)) }
	comment("Makes an XFS again, empty. Devices, UUID and label are for the command line:")
	comment("%s", commandAgain(g, id))
	if had.Features.Quota != 0 && !had.Features.Metadir {
		comment("Quota was turned on by mount options; without metadir=1 mkfs cannot do that.")
		had.Features.Quota = 0
	}
	if !rootKnown {
		comment("What new files inherit, and autofsck, was not read from the root directory.")
	}
	text := config(&had, (*setting).exactly)
	small, differ := tryAgain(&had, text, rootKnown)
	if !isPlain(had.Label) {
		differ = append(differ, fmt.Sprintf("the label, %q, has characters that no line here can have", had.Label))
	}
	if small {
		comment("It is smaller than is supported, and made only with --unsupported.")
	}
	for _, text := range differ {
		comment("NOT THE SAME: %s", text)
	}
	a := Again{Differ: differ}
	for _, text := range comments {
		a.Text += commented(text)
	}
	a.Text += "\n" + text
	return a
}

// commandAgain is the command line that goes with the file.
func commandAgain(g *geometry.Geometry, id fmt.Stringer) string {
	words := []string{"mkfs", "-c", "options=FILE", "-m", "uuid=" + id.String()}
	if g.Label != "" && isPlain(g.Label) {
		words = append(words, "-L", quoted(g.Label))
	}
	if g.Log.External {
		words = append(words, "-l", "logdev=DEVICE")
	}
	if g.RT.Device {
		words = append(words, "-r", "rtdev=DEVICE")
	}
	return strings.Join(append(words, "TARGET"), " ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// isPlain tells whether a label can stand in a line that is read and pasted. Control
// characters in it could do what nobody sees.
func isPlain(label string) bool {
	return !strings.ContainsFunc(label, func(r rune) bool { return !strconv.IsPrint(r) })
}

// commented is a text as comment lines, none of them longer than lines may be.
func commented(text string) string {
	const most = maxLine - len("# \n")
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		for len(line) > most {
			b.WriteString("# " + line[:most] + "\n")
			line = line[most:]
		}
		b.WriteString("# " + line + "\n")
	}
	return b.String()
}

// tryAgain plans what a file of options asks for and compares that with what
// there was. small tells that it is made only if small ones are allowed.
func tryAgain(had *geometry.Geometry, text string, rootKnown bool) (small bool, differ []string) {
	p := NewParser()
	p.Request.Spec.Log.External, p.Request.Spec.RT.Device = had.Log.External, had.RT.Device
	p.Config("the file", text)
	spec, dev := p.Request.Spec, deviceOf(had)
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		spec.SmallAllowed, small = true, true
		g, _, err = geometry.Plan(spec, dev)
	}
	if err = errors.Join(p.Err(), err); err != nil {
		return false, strings.Split(err.Error(), "\n")
	}
	for _, row := range derived {
		if h, w := row.value(had), row.value(g); h != w {
			differ = append(differ, fmt.Sprintf("%s is %s here, and would be %s", row.id, h, w))
		}
	}
	for i := range settings {
		s := &settings[i]
		if h, w := s.exactly()(had), s.exactly()(g); h != w && (rootKnown || !s.rootTells()) {
			differ = append(differ, fmt.Sprintf("%s of [%s] is %s here, and would be %s", s.key, s.section, orUnset(h),
				orUnset(w)))
		}
	}
	return small, differ
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// rootTells tells whether it is the root directory that has the property.
func (s *setting) rootTells() bool {
	return s.key == "autofsck" || s.section == "data" && s.value != nil
}

// exactly is the value for a file that makes the same filesystem.
func (s *setting) exactly() func(*geometry.Geometry) string {
	if s.exact != nil {
		return s.exact
	}
	return s.value
}

// derived is what no suboption settles by itself.
var derived = []property{
	{"the number of AGs", func(g *geometry.Geometry) string { return fmt.Sprint(g.AGCount) }},
	{"the start of the log", func(g *geometry.Geometry) string {
		return fmt.Sprintf("AG %d block %d", g.Log.AG,
			g.Log.Start)
	}},
	{"the root inode", func(g *geometry.Geometry) string { return fmt.Sprint(g.RootInode()) }},
	{"the alignment of inodes", func(g *geometry.Geometry) string {
		return fmt.Sprintf("%d and %d blocks", g.InodeAlign,
			g.SparseAlign)
	}},
}

// deviceOf is a device with room for all that a filesystem has.
func deviceOf(g *geometry.Geometry) geometry.Device {
	const sector, slack = 512, 64 * kib
	d := geometry.Device{
		Size:          g.Bytes(max(g.Blocks, g.RT.Start)) + slack,
		LogicalSector: sector, PhysicalSector: sector, File: true,
	}
	if g.RT.Device {
		d.RT.Size = g.Bytes(g.RT.Blocks) + slack
	} else if g.RT.Start > 0 {
		d.Size += g.Bytes(g.RT.Blocks)
	}
	d.RT.LogicalSector, d.RT.PhysicalSector = sector, sector
	d.Log.Size, d.Log.LogicalSector = g.Bytes(g.Log.Blocks)+slack, sector
	return d
}
