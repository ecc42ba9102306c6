// Package arch has no code: its tests hold the rules of which package may use
// which, and who may print and exit.
package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "mkfs"
	root   = "../.."
)

// may lists which of our packages a package may import, itself; a package that
// is not here fails the test. "*" is all.
var may = map[string][]string{
	"cmd/mkfs":             {"*"},
	"internal/geometry":    {},
	"internal/ondisk":      {},
	"internal/target":      {},
	"internal/aio":         {},
	"internal/aio/aiotest": {"internal/aio"}, // for tests
	"internal/delwri":      {},
	"internal/aginit":      {"internal/geometry", "internal/ondisk"},
	"internal/cnumber":     {},
	"internal/options":     {"internal/geometry", "internal/cnumber"},
	"internal/format": {
		"internal/geometry", "internal/ondisk", "internal/target", "internal/aio", "internal/delwri", "internal/aginit", "internal/pace",
		"internal/buffer", "internal/live", "internal/metafile", "internal/populate", "internal/tree",
	},
	"internal/pace":     {},
	"internal/progress": {"internal/format"},
	"internal/source": {
		"internal/aio", "internal/geometry", "internal/ondisk", "internal/recovery", "internal/rescue", "internal/super", "internal/target",
		"internal/verify", "internal/xlog", "internal/buffer", "internal/live",
	},
	"internal/claim": {
		"internal/aginit", "internal/aio", "internal/format", "internal/geometry", "internal/options", "internal/source", "internal/super",
		"internal/target", "internal/undo", "internal/verify",
	},
	"internal/report": {
		"internal/format", "internal/geometry", "internal/ondisk", "internal/recovery", "internal/super", "internal/undo", "internal/verify",
		"internal/xlog", "internal/against",
	},
	"internal/audit": {
		"internal/format", "internal/source", "internal/verify", "internal/against", "internal/filling", "internal/report", "internal/target", "internal/aio",
		"internal/ondisk", "internal/tree",
	},
	"internal/rule":   {},
	"internal/compat": {},
	"internal/xlog":   {"internal/ondisk", "internal/rule"},
	"internal/super":  {"internal/geometry", "internal/ondisk", "internal/rule", "internal/xlog"},
	"internal/verify": {"internal/geometry", "internal/ondisk", "internal/rule", "internal/super", "internal/xlog"},
	"internal/arch":   {},
	// Another program. It recovers on a ring of its own, and makes files by itself.
	"test/bench": {
		"internal/aio", "internal/recovery", "internal/fusetest", "internal/super", "internal/geometry", "internal/ondisk",
		"internal/buffer", "internal/live", "internal/inode", "internal/ialloc", "internal/dir", "internal/attr",
	},
	"test/crash":  {}, // and another
	"test/random": {}, // and another

	"internal/recovery": {"internal/geometry", "internal/ondisk", "internal/delwri", "internal/buffer", "internal/rule", "internal/super", "internal/xlog"},
	"internal/rescue":   {"internal/geometry", "internal/ondisk", "internal/super", "internal/recovery"},
	"internal/logtest":  {}, // for tests
	"internal/fusetest": {}, // for tests

	"internal/labeltest": {}, // for tests
	"internal/undo":      {"internal/ondisk", "internal/super", "internal/xlog", "internal/pace"},

	// The live filesystem, from the bottom.
	"internal/buffer": {"internal/delwri"},
	"internal/live":   {"internal/buffer", "internal/geometry", "internal/ondisk"},
	"internal/btree":  {"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk"},
	"internal/inode":  {"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/btree", "internal/rule"},
	"internal/rmap":   {"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/btree"},
	"internal/alloc": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/btree", "internal/rmap", "internal/inode",
	},
	"internal/ialloc": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/btree", "internal/rmap", "internal/alloc",
		"internal/inode",
	},
	"internal/refcount": {
		"internal/live", "internal/geometry", "internal/ondisk", "internal/btree", "internal/rmap", "internal/alloc",
	},
	"internal/bmap": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/btree", "internal/rmap", "internal/alloc",
		"internal/inode", "internal/refcount",
	},
	"internal/da": {"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/bmap"},
	"internal/dir": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/bmap", "internal/da",
	},
	"internal/attr": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/bmap", "internal/da",
	},
	"internal/namei": {
		"internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/ialloc", "internal/bmap", "internal/dir",
		"internal/attr", "internal/symlink",
	},
	"internal/metafile": {
		"internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/ialloc", "internal/bmap", "internal/attr",
		"internal/namei",
	},
	"internal/against": {
		"internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/ialloc", "internal/dir", "internal/attr",
		"internal/namei", "internal/symlink", "internal/tree",
	},
	"internal/live/livetest": {"*"}, // for tests

	// What a filesystem is filled with.
	"internal/tree":      {},
	"internal/hostfile":  {"internal/tree"},
	"internal/walk":      {"internal/tree", "internal/hostfile"},
	"internal/protofile": {"internal/tree", "internal/hostfile", "internal/cnumber"},
	"internal/symlink": {
		"internal/buffer", "internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/bmap",
	},
	"internal/identity": {"internal/aginit", "internal/format", "internal/geometry", "internal/ondisk"},
	"internal/filling": {
		"internal/tree", "internal/walk", "internal/protofile", "internal/populate", "internal/format", "internal/geometry",
	},
	"internal/populate": {
		"internal/tree", "internal/live", "internal/geometry", "internal/ondisk", "internal/inode", "internal/ialloc", "internal/bmap",
		"internal/attr", "internal/namei", "internal/symlink",
	},
}

// pkg is what "go list -json" tells of a package.
type pkg struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	GoFiles         []string
	CgoFiles        []string
	CFiles, SFiles  []string
}

// packages lists those of the program and all that they need.
func packages(t *testing.T) []pkg {
	t.Helper()
	// The go tool reads files behind the back of its own test cache. These,
	// and the sources that are parsed below, it notices.
	for _, path := range []string{"go.mod", "go.sum", "cmd", "internal"} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,GoFiles,CgoFiles,CFiles,SFiles", "./...")
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go tool to ask")
	}
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %v\n%s", cmd, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var list []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// ours is a package's path within the module.
func ours(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// problems are the rules that a package breaks.
func problems(p pkg) (list []string) {
	if len(p.CgoFiles) > 0 || slices.Contains(p.Imports, "C") {
		list = append(list, "uses cgo")
	}
	name, mine := ours(p.ImportPath)
	if !mine {
		return list
	}
	if len(p.CFiles)+len(p.SFiles) > 0 {
		list = append(list, fmt.Sprintf("has files that are not Go: %v", append(p.CFiles, p.SFiles...)))
	}
	allowed, known := may[name]
	if !known {
		return append(list, "has no rule; add one")
	}
	for _, path := range p.Imports {
		other, mine := ours(path)
		if mine && !slices.Contains(allowed, other) && !slices.Contains(allowed, "*") {
			list = append(list, "imports "+other)
		}
	}
	return list
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, text := range problems(p) {
			t.Errorf("%s %s", p.ImportPath, text)
		}
	}
}

// The rules have to notice what they are for.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		p    pkg
		want string
	}{
		{pkg{ImportPath: "mkfs/internal/aginit", Imports: []string{"fmt", "mkfs/internal/geometry", "mkfs/internal/ondisk"}}, ""},
		{pkg{ImportPath: "mkfs/internal/aginit", Imports: []string{"mkfs/internal/aio"}}, "imports internal/aio"},
		{pkg{ImportPath: "mkfs/internal/geometry", Imports: []string{"mkfs/internal/ondisk"}}, "imports internal/ondisk"},
		{pkg{ImportPath: "mkfs/internal/format", Imports: []string{"mkfs/internal/options"}}, "imports internal/options"},
		{pkg{ImportPath: "mkfs/internal/util"}, "has no rule; add one"},
		{pkg{ImportPath: "mkfs/cmd/mkfs", Imports: []string{"mkfs/internal/options"}}, ""},
		{pkg{ImportPath: "example.com/x", CgoFiles: []string{"x.go"}}, "uses cgo"},
		{pkg{ImportPath: "mkfs/internal/aio", SFiles: []string{"x.s"}}, "has files that are not Go: [x.s]"},
	} {
		if got := strings.Join(problems(c.p), "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// Errors are values, and only the command prints and exits.
func TestOnlyTheCommandPrintsAndExits(t *testing.T) {
	for _, p := range packages(t) {
		name, mine := ours(p.ImportPath)
		if !mine || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "test/") {
			continue
		}
		for _, file := range p.GoFiles {
			for _, text := range outbursts(t, filepath.Join(p.Dir, file), nil) {
				t.Errorf("%s/%s", name, text)
			}
		}
	}
}

// selfish are names, by package, that belong to the command alone.
var selfish = map[string][]string{
	"os":      {"Exit", "Stdout", "Stderr", "Stdin", "Args", "Getenv", "LookupEnv"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"log":     {"*"},
	"syscall": {"Exit"},
}

// outbursts finds uses of those names. src may be a file's content, as for parser.ParseFile.
func outbursts(t *testing.T, path string, src any) (list []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of imports, in this file
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	say := func(n ast.Node, what string) {
		at := set.Position(n.Pos())
		list = append(list, fmt.Sprintf("%s:%d uses %s", filepath.Base(at.Filename), at.Line, what))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				bad := selfish[names[x.Name]]
				if slices.Contains(bad, n.Sel.Name) || slices.Contains(bad, "*") {
					say(n, x.Name+"."+n.Sel.Name)
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				say(n, f.Name)
			}
		}
		return true
	})
	return list
}

func TestOutbursts(t *testing.T) {
	const src = `package x
import ("fmt"; sys "os"; "log")
func f() {
	fmt.Println("x")
	sys.Exit(1)
	log.Fatal("x")
	println("x")
	_ = fmt.Sprint("x")
	fmt.Fprintln(sys.Stderr, "x")
}`
	got := strings.Join(outbursts(t, "x.go", src), ", ")
	const want = "x.go:4 uses fmt.Println, x.go:5 uses sys.Exit, x.go:6 uses log.Fatal, x.go:7 uses println, x.go:9 uses sys.Stderr"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The command is flags and the order of work. Whatever grows beyond this is a part of
// the domain, and belongs to a package of it.
const (
	longestFunction = 60   // lines of a function of the command
	longestCommand  = 2700 // lines of all of it, without tests
)

func TestTheCommandIsThin(t *testing.T) {
	total := 0
	for _, p := range packages(t) {
		if name, mine := ours(p.ImportPath); !mine || name != "cmd/mkfs" {
			continue
		}
		for _, file := range p.GoFiles {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			total += set.Position(tree.FileEnd).Line
			for _, d := range tree.Decls {
				n := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
				if f, ok := d.(*ast.FuncDecl); ok && n > longestFunction {
					t.Errorf("%s: %s has %d lines", file, f.Name.Name, n)
				}
			}
		}
	}
	if total == 0 || total > longestCommand {
		t.Errorf("cmd/mkfs has %d lines, at most %d are meant", total, longestCommand)
	}
}
