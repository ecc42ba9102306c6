package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"mkfs/internal/labeltest"
)

// withDisks adds the commands of scripts about whole disks.
func withDisks(cmds map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	maps.Copy(cmds, diskCommands)
	return cmds
}

// diskCommands are those of scripts about whole disks.
var diskCommands = map[string]func(*testscript.TestScript, bool, []string){
	"gpt":     gpt,
	"dos":     dos,
	"outside": outside,
	"fill":    fill,
}

// ranges reads partitions, as 2048+8192 in sectors; 0 is none.
func ranges(ts *testscript.TestScript, args []string) (list []labeltest.Part) {
	for _, arg := range args {
		from, n, _ := strings.Cut(arg, "+")
		var p labeltest.Part
		var err error
		p.Start, err = strconv.ParseInt(from, 10, 64)
		ts.Check(err)
		if p.Start != 0 {
			p.Length, err = strconv.ParseInt(n, 10, 64)
			ts.Check(err)
		}
		list = append(list, p)
	}
	return list
}

// gpt FILE SECTOR PARTITION...: puts a GPT in an image.
func gpt(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 2, "gpt FILE SECTOR PARTITION...")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	ts.Check(err)
	sector, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(labeltest.GPT(f, size, sector, ranges(ts, args[2:])...))
}

// dos FILE PARTITION... [/ LOGICAL...]: puts an MBR in an image.
func dos(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "dos FILE PARTITION... [/ LOGICAL...]")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	primary, logical := args[1:], []string(nil)
	for i, arg := range primary {
		if arg == "/" {
			primary, logical = primary[:i], primary[i+1:]
			break
		}
	}
	ts.Check(labeltest.DOS(f, 512, ranges(ts, primary), ranges(ts, logical)...))
}

// outside FILE OFFSET LENGTH: prints the hash of all of a file but for a range.
func outside(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 3, "outside FILE OFFSET LENGTH")
	off, err := bytesOf(args[1])
	ts.Check(err)
	n, err := bytesOf(args[2])
	ts.Check(err)
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	ts.Check(err)
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for _, part := range [][2]int64{{0, off}, {off + n, size}} {
		for at := part[0]; at < part[1]; {
			start, end, err := nextData(f, at)
			ts.Check(err)
			if start >= part[1] {
				break
			}
			k, err := f.ReadAt(buf[:min(int64(len(buf)), min(end, part[1])-start)], start)
			ts.Check(err)
			fmt.Fprintln(sum, start)
			sum.Write(buf[:k])
			at = start + int64(k)
		}
	}
	fmt.Fprintln(ts.Stdout(), hex.EncodeToString(sum.Sum(nil)))
}

// fill FILE OFFSET LENGTH TEXT: writes a text again and again.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 4, "fill FILE OFFSET LENGTH TEXT")
	off, err := bytesOf(args[1])
	ts.Check(err)
	n, err := bytesOf(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	text := []byte(strings.Repeat(args[3], 1+(1<<20)/len(args[3])))
	for n > 0 {
		part := text[:min(n, int64(len(text)))]
		_, err := f.WriteAt(part, off)
		ts.Check(err)
		off, n = off+int64(len(part)), n-int64(len(part))
	}
	ts.Check(f.Close())
}
