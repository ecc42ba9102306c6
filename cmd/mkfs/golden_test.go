package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mkfs/internal/ondisk"
)

var (
	update    = flag.Bool("update", false, "rewrite the golden files from what -reference writes")
	reference = flag.String("reference", "", "path of the mkfs.xfs whose images are the golden ones")
)

const goldenFolder = "../../testdata/golden"

// goldenUUID is put in front of arguments that have no UUID of their own.
const goldenUUID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"

// goldenEnv makes formatting repeatable to the byte.
var goldenEnv = map[string]string{
	"LC_ALL":             "C",
	"TZ":                 "UTC",
	"SOURCE_DATE_EPOCH":  "1700000000",
	"DETERMINISTIC_SEED": "1",
}

// goldenCase is a file of testdata/golden; the README there tells the format.
type goldenCase struct {
	path    string
	comment []byte
	files   []sparseFile
	args    []string
	inputs  []txtar.File // to be there before
	results []txtar.File // "stdout" and one for each image
}

type sparseFile struct {
	name string
	size int64
}

// TestGolden formats what the golden files name and compares with what the
// reference wrote. Paths are printed as they are given, so each case works in
// a folder of its own, one after the other.
func TestGolden(t *testing.T) {
	for name, value := range goldenEnv {
		t.Setenv(name, value)
	}
	t.Setenv("QA_CHECK_FS", "") // remembers what was there
	os.Unsetenv("QA_CHECK_FS")
	if *update {
		checkReference(t)
	}
	folder, err := filepath.Abs(goldenFolder)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			c := loadGolden(t, path)
			t.Chdir(t.TempDir())
			c.makeFiles(t)
			if *update {
				c.capture(t)
				return
			}
			c.check(t)
		})
	}
}

func checkReference(t *testing.T) {
	t.Helper()
	if !filepath.IsAbs(*reference) {
		t.Fatal("-update needs -reference with the absolute path of mkfs.xfs")
	}
	out, err := exec.Command(*reference, "-V").Output()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), " "+formatVersion) {
		t.Fatalf("%s is %q, not version %s: %v", *reference, out, formatVersion, err)
	}
}

func loadGolden(t *testing.T, path string) *goldenCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &goldenCase{path: path, comment: archive.Comment}
	for line := range strings.Lines(string(archive.Comment)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "files":
			for _, word := range words[1:] {
				name, size, _ := strings.Cut(word, "=")
				c.files = append(c.files, sparseFile{name, parseBytes(t, size)})
			}
		case "args":
			c.args = words[1:]
		default:
			t.Fatalf("%s: what is %q?", path, line)
		}
	}
	for _, f := range archive.Files {
		if f.Name == "stdout" || strings.HasSuffix(f.Name, ".dump") {
			c.results = append(c.results, f)
		} else {
			c.inputs = append(c.inputs, f)
		}
	}
	if !slices.ContainsFunc(c.args, func(s string) bool { return strings.Contains(s, "uuid=") }) {
		c.args = append([]string{"-m", "uuid=" + goldenUUID}, c.args...)
	}
	return c
}

// parseBytes reads a number with a suffix for a power of 1024.
func parseBytes(t *testing.T, text string) int64 {
	t.Helper()
	n, err := bytesOf(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func bytesOf(text string) (int64, error) {
	digits := strings.TrimRight(text, "kmgtpe")
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := 0
	if suffix := text[len(digits):]; len(suffix) == 1 {
		shift = 10 * (strings.Index("kmgtpe", suffix) + 1)
	} else if suffix != "" {
		err = errors.New("more than one suffix")
	}
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", text, err)
	}
	return n << shift, nil
}

func (c *goldenCase) makeFiles(t *testing.T) {
	t.Helper()
	for _, in := range c.inputs {
		if err := os.WriteFile(in.Name, in.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range c.files {
		if err := os.WriteFile(f.name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		err := os.Truncate(f.name, f.size)
		if errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("the folder for temporary files cannot hold one of %d bytes", f.size)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// images are the files that formatting wrote or made, "img" first.
func (c *goldenCase) images() []string {
	list := []string{"img"}
	for _, f := range c.files {
		if f.name != "img" {
			list = append(list, f.name)
		}
	}
	return list
}

// capture rewrites the golden file from what the reference does.
func (c *goldenCase) capture(t *testing.T) {
	cmd := exec.Command(*reference, c.args...)
	for _, name := range slices.Sorted(maps.Keys(goldenEnv)) {
		cmd.Env = append(cmd.Env, name+"="+goldenEnv[name])
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", *reference, c.args, err, stderr.Bytes())
	}
	archive := &txtar.Archive{Comment: c.comment, Files: c.inputs}
	add := func(name, text string) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	add("stdout", string(stdout))
	for _, name := range c.images() {
		add(name+".dump", describe(t, name))
	}
	if err := os.WriteFile(c.path, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

// check formats with this program and compares.
func (c *goldenCase) check(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(append([]string{"mkfs.xfs"}, c.args...), &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d:\n%s", status, stderr.Bytes())
	}
	if len(c.results) != 1+len(c.images()) {
		t.Fatalf("%s has %d results, want stdout and %v; capture it with -update", c.path, len(c.results), c.images())
	}
	for _, want := range c.results {
		got := stdout.String()
		if name, isImage := strings.CutSuffix(want.Name, ".dump"); isImage {
			got = describe(t, name)
		}
		if diff := cmp.Diff(entriesOf(string(want.Data)), entriesOf(got)); diff != "" {
			t.Errorf("%s: -reference +ours\n%s", want.Name, diff)
		}
	}
	c.checkHoles(t)
}

// describe is a file's contents as text, with a hash of all of it.
func describe(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := contentOf(f)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("size %d\nsectors %d\nsha256 %s\n", all.size, all.sectors, all.hash)
	switch name {
	case "log":
		return text + dumpLog(f, 0)
	case "rt":
		return text + dumpRealtime(f)
	}
	return text + dumpImage(f)
}

// entry is a line of a dump with the titles that it stands under, so that a
// difference tells where it is.
type entry struct{ In, Line string }

func entriesOf(text string) (list []entry) {
	var titles []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.TrimLeft(line, " ")
		titles = titles[:min(len(titles), (len(line)-len(words))/2)]
		if strings.HasSuffix(words, ":") {
			titles = append(titles, words)
			continue
		}
		list = append(list, entry{strings.Join(titles, " "), words})
	}
	return list
}

// holeSlack allows for the host's blocks and large pages.
const holeSlack = 4 << 20

// checkHoles checks that zeroing the log of a fresh sparse image took no
// space: behind the log's first record it is a hole, and so the whole image
// takes less than the log's length. What the host needs for other things must
// be small against that, so the image must not have many AGs.
func (c *goldenCase) checkHoles(t *testing.T) {
	t.Helper()
	f, err := os.Open("img")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := &dumper{data: f}
	d.sb, _ = ondisk.DecodeSuperblock(d.read(0, sector))
	length := int64(d.sb.LogBlocks) * int64(d.sb.BlockSize)
	if d.sb.LogStart != 0 {
		start := d.fsblock(d.sb.LogStart)
		data, _, err := nextData(f, start+holeSlack)
		if err != nil {
			t.Fatal(err)
		}
		// The host may count in pages, the last of which has what is behind the log.
		if end := (start + length) &^ 4095; data < end {
			t.Errorf("the log from %d to %d has data at %d", start, end, data)
		}
	}
	if took, err := allocated(f); err != nil || d.sb.AGCount <= 16 && took >= length {
		t.Errorf("the image takes %d bytes, as many as its log has: %v", took, err)
	}
}

// TestDumpShowsDamage changes single bytes of a filesystem: the comparison
// must see each, and in the structure where it is.
func TestDumpShowsDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	c := goldenCase{files: []sparseFile{{"img", 300 << 20}}}
	c.makeFiles(t)
	var stdout, stderr bytes.Buffer
	if status := run([]string{"mkfs", "-q", "-m", "uuid=" + goldenUUID, "img"}, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d:\n%s", status, stderr.Bytes())
	}
	f, err := os.OpenFile("img", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const block, ag, log = 4096, 19200 * 4096, 2*19200*4096 + 7*4096
	good := entriesOf(describe(t, "img"))
	for _, damage := range []struct {
		name string
		off  int64
		want string // in an entry that differs
	}{
		{"free blocks of the superblock", 151, "superblock 0: FreeBlocks"},
		{"checksum of the superblock", 224, "superblock 0: CRC BAD"},
		{"a part of the superblock without a field", 500, "superblock 0: CRC BAD"},
		{"progress of a secondary superblock", ag + 126, "superblock 1, where it differs from 0: CRC BAD"},
		{"number in an AGF", 3*ag + 512 + 11, "ag 3: agf: Seqno 2"},
		{"longest extent in an AGF", ag + 512 + 59, "ag 1: agf: Longest"},
		{"an unlinked inode in an AGI", 1024 + 40, "ag 0: agi: Unlinked"},
		{"an entry of an AGFL", 1536 + 36 + 4 + 3, "ag 0: agfl: Slots"},
		{"address in a btree root", ag + block + 23, "ag 1: bnobt, block 1: Magic \"AB3B\", Records 1, Left null, Right null, Blkno 1"},
		{"a record of the bnobt", block + 56 + 7, "ag 0: bnobt, block 1: record start"},
		{"what is behind the records of the cntbt", 2*block + 56 + 2*8, "cntbt, block 2: remains"},
		{"a hole in the inobt", 3*block + 56 + 5, "inobt, block 3: record start 128 holes 0x1"},
		{"the owner in a record of the rmapbt", 5*block + 56 + 15, "rmapbt, block 5: record start 0 blocks 1 owner -4"},
		{"the refcountbt's end", 7*block - 1, "refcountbt, block 6: Magic \"R3FC\", Left null, Right null, Blkno own, UUID own, Owner own, CRC BAD"},
		{"number of the root inode", 16*block + 159, "inode root + 0: Number"},
		{"parent of the root", 16*block + 176 + 5, "directory, parent"},
		{"name of its attribute", 16*block + 176 + 37*8 + 8, "attribute"},
		{"generation of a free inode", 16*block + 63*512 + 95, "inode root + 63: Generation"},
		{"tail in the log record", log + 31, "TailLSN"},
		{"client in the log's operation", log + 512 + 8, "Operation"},
		{"cycle behind the log's record", log + 1024 + 3, "BlocksOfCycle"},
		{"data in the log", log + 1<<20, "sha256"},
		{"data in free space", ag + 100*block, "sha256"},
	} {
		t.Run(damage.name, func(t *testing.T) {
			var b [1]byte
			flip := func() {
				f.ReadAt(b[:], damage.off)
				b[0] ^= 1
				if _, err := f.WriteAt(b[:], damage.off); err != nil {
					t.Fatal(err)
				}
			}
			flip()
			defer flip()
			var changed strings.Builder
			for _, e := range entriesOf(describe(t, "img")) {
				if !slices.Contains(good, e) {
					fmt.Fprintln(&changed, e.In, e.Line)
				}
			}
			if !strings.Contains(changed.String(), damage.want) || !strings.Contains(changed.String(), "sha256") {
				t.Errorf("no %q and hash in what differs:\n%s", damage.want, changed.String())
			}
		})
	}
}
