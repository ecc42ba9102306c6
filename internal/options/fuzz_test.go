package options

import (
	"math/big"
	"strings"
	"testing"

	"mkfs/internal/geometry"
)

// commandLines are options of every kind, good and bad.
var commandLines = []string{
	"", "-d", "-d agcount=4", "-d agcount=0", "-d agcount=4294967294", "-d agsize=16m,size=300m", "-d size=1g -l size=64m,agnum=1",
	"-d su=64k,sw=4", "-d sunit=8,swidth=16", "-d su=1m,sw=2 -l su=32k", "-d noalign", "-d noalign,su=4k", "-d sectsize=4096",
	"-d concurrency", "-d concurrency=nr_cpus -l concurrency=9", "-d rtinherit,daxinherit,projinherit=7,extszinherit=16,cowextsize=16",
	"-b size=1024 -i size=512", "-b size=65536 -n size=65536 -s size=32768", "-b size=4b", "-b size=1s", "-s size=1b",
	"-m crc=0", "-m crc=0 -b size=512 -i size=256,attr=1,projid32bit=0,align=0 -l version=1,lazy-count=0 -n ftype=0,version=ci",
	"-m rmapbt=0,reflink=0,finobt=0,inobtcount=0,bigtime=0 -i sparse=0,nrext64=0,exchange=0 -n parent=0",
	"-m uuid=00112233-4455-6677-8899-aabbccddeeff", "-m autofsck=repair", "-m autofsck=1", "-m autofsck", "-m metadir=1,uquota",
	"-i perblock=2", "-i perblock=256,maxpct=0", "-i perblock=3,size=1024", "-i perblock=0", "-l version=0", "-i attr=-1,size=0", "-d sw=-1,su=4k", "-d concurrency=-1", "-i maxpct=100",
	"-l internal=0", "-l logdev=/dev/log,size=10m", "-l internal,logdev=x", "-l file,name=x,size=16m", "-l sunit=8,su=8k", "-l sectsize=4096",
	"-n size=4096,version=2", "-r rtdev=x,extsize=1m", "-c options=x,defaults=y", "-d file,name=x,size=1t", "-d ,,=,a=b=c,",
	"-d agcount=9223372036854775807", "-d size=8e", "-d size=9223372036854775807b", "-d su=4294967295,sw=4294967295", "-d swidth=4294967295,sunit=4294967295",
	"-l size=2038m -d agsize=1t", "-b size=\x00", "-d size=\xff\xfe", "-d agcount=2 -d agcount=3",
}

// take gives a parser options as a shell would split them, without quotes.
func take(p *Parser, line string) {
	words := strings.Split(line, " ")
	for i := 0; i < len(words); i++ {
		word := words[i]
		if len(word) < 2 || word[0] != '-' || !strings.ContainsRune("bcdilmnrs", rune(word[1])) {
			continue
		}
		arg := word[2:]
		if arg == "" && i+1 < len(words) {
			i++
			arg = words[i]
		}
		p.Option(word[1], arg)
	}
	p.CommandLine()
}

// planAll plans for devices of several sizes what was asked for. What the
// options let through, the plan has to take.
func planAll(p *Parser) {
	spec := p.Request.Spec
	spec.SmallAllowed, spec.CPUs = true, 8
	for _, size := range []geometry.Bytes{16 << 20, 300 << 20, 1 << 40, 1<<63 - 1} {
		for _, sector := range []int64{512, 4096} {
			dev := geometry.Device{
				Size: size, LogicalSector: sector, PhysicalSector: 4096, IO: geometry.IOSizes{Min: 65536, Opt: 262144},
				SolidState: sector == 512, Grows: size > 1<<40,
			}
			dev.Log.Size, dev.Log.LogicalSector = 64<<20, 512
			geometry.Plan(spec, dev)
		}
	}
}

// FuzzOption takes whole command lines: no panic, neither here nor where the
// result goes, and faults that say something.
func FuzzOption(f *testing.F) {
	for _, line := range commandLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p := NewParser()
		take(p, line)
		if err := p.Err(); err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Errorf("%q: a fault without words", line)
			}
			return
		}
		planAll(p)
	})
}

func FuzzConfig(f *testing.F) {
	for _, content := range []string{
		"", "\n", "# x\n; y\n", "[metadata]\nrmapbt=0\nbigtime : 1\n", "[DATA]\nAGCOUNT = 4 ; four\n", "\ufeff[block]\r\nsize=1k\r\n",
		"[", "[]\n=\n", "[block", "size=1", "[inode]\nsize\n", "[log]\n:::=\n", "[block]\nsize=1k;2\n[block]\nsize=2k\n",
		"[metadata]\ncrc=0\n[inode]\nsize=256\nattr=1\n[naming]\nversion=ci\n[log]\nversion=1\n", "[nosuch]\nx=1\n", "[data]\nname=x\nfile\n",
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		p := NewParser()
		p.Config("file", content)
		if err := p.Err(); err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Errorf("%q: a fault without words", content)
			}
			return
		}
		planAll(p)
	})
}

// FuzzLayers takes a file of defaults, a command line and a file of options.
func FuzzLayers(f *testing.F) {
	f.Add("[data]\nagcount=5\n", "-d agsize=300m", "[metadata]\nrmapbt=0\n")
	f.Add("[data]\nsu=64k\nsw=4\nagsize=16m\n", "-d agcount=9 -l size=64m", "[log]\nconcurrency=nr_cpus\n")
	f.Add("[metadata]\ncrc=0\nautofsck=1\n", "-m autofsck=check,rmapbt=1", "[inode]\nsize=256\n")
	f.Add("[log]\nlogdev=x\nsectsize=4k\n", "-l internal -s size=1k", "[sector]\nsize=4096\n")
	f.Fuzz(func(t *testing.T, defaults, line, content string) {
		p := NewParser()
		p.Defaults("defaults", defaults)
		take(p, line)
		p.Config("file", content)
		if err := p.Err(); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("a fault without words: %q", err)
		}
		p.Request.Spec.Refused = p.Refused()
		planAll(p)
	})
}

// FuzzComplete takes half a word.
func FuzzComplete(f *testing.F) {
	for _, arg := range []string{"", "ag", "agcount=4,no", "noalign=", ",,=", "su=4k,=1"} {
		f.Add(arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		for _, s := range Sections {
			for _, c := range Complete(s.Flag, arg) {
				if !strings.HasPrefix(c.Text, arg) {
					t.Errorf("-%c %q becomes %q", s.Flag, arg, c.Text)
				}
			}
		}
	})
}

// FuzzSize compares with arithmetic that does not overflow.
func FuzzSize(f *testing.F) {
	for _, text := range []string{
		"0", "1k", "07t", "0x1fe", "-1e", "+9223372036854775807", "8e", "9007199254740992k", "99999999999999999999g", "1s", "2b", "1kk", " 1", "", "-", "0x", "0xk", "1\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, reason := parseSize(text)
		if reason != "" || len(text) > 200 { // long numbers only take long
			return
		}
		digits, shift, unit := strings.TrimLeft(text, " \t\n\v\f\r"), uint(0), geometry.UnitBytes
		v, ok := new(big.Int).SetString(goNumber(digits), 0)
		if !ok {
			i := strings.IndexByte("kmgtpe", digits[len(digits)-1]|0x20)
			switch {
			case i >= 0:
				shift = uint(10 * (i + 1))
			case digits[len(digits)-1]|0x20 == 's':
				unit = geometry.UnitSectors
			default:
				unit = geometry.UnitBlocks
			}
			v, ok = new(big.Int).SetString(goNumber(digits[:len(digits)-1]), 0)
		}
		if !ok {
			t.Fatalf("%q is a size, and no number", text)
		}
		if v.Lsh(v, shift); !v.IsInt64() {
			// As the C library does, a number without a suffix becomes the nearest there is.
			if shift > 0 && v.Sign() != 0 {
				t.Fatalf("%q becomes %d", text, size.Count)
			}
			least, most := big.NewInt(-1<<63), big.NewInt(1<<63-1)
			if v.Cmp(most) > 0 {
				v = most
			} else {
				v = least
			}
		}
		if size.Count != v.Int64() || size.Unit != unit || size.Text != text {
			t.Fatalf("%q is %+v, want %v of unit %d", text, size, v, unit)
		}
	})
}

// goNumber is a C number in Go's words. Go also takes underscores and another
// prefix, which must not get this far.
func goNumber(s string) string {
	bare := strings.ToLower(strings.TrimLeft(s, "+-"))
	if strings.Contains(s, "_") || strings.HasPrefix(bare, "0o") {
		return ""
	}
	return s
}
