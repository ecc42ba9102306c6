package target

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// kindOf is what a file of some bytes is, as Content tells it.
func kindOf(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	what, err := d.Content()
	if err != nil {
		t.Fatal(err)
	}
	return what
}

// padded is b with zeros behind it.
func padded(b string, n int) string { return b + strings.Repeat("\x00", n) }

// tarOf is an archive of one file in a format.
func tarOf(t *testing.T, format tar.Format) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "folder/file", Mode: 0o644, Size: 5, Format: format})
	if _, e := io.WriteString(w, "hello"); err == nil {
		err = e
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// oldTar is the header of an archive from before there was a magic number.
func oldTar(t *testing.T) string {
	b := []byte(tarOf(t, tar.FormatUSTAR))
	clear(b[257:512])
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return string(b)
}

// contentSamples are files of the kinds that more than a magic number tells, made by
// the standard library where it can.
func contentSamples(t *testing.T) map[string][]string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	written := func(write func(w io.Writer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	picture := image.NewGray(image.Rect(0, 0, 8, 8))
	const names = "\x12\x00\x00\x00\x00\x00\x00\x00" // a name of 18 bytes, in an old cpio
	return map[string][]string{
		"data compressed with gzip": {written(func(w io.Writer) error { return gzip.NewWriter(w).Close() })},
		"data compressed with bzip2": {padded("BZh9\x31\x41\x59\x26\x53\x59", 20), // of no data:
			"BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"},
		"data compressed with compress": {padded("\x1f\x9d\x90", 20)},
		"a tar archive":                 {tarOf(t, tar.FormatUSTAR), tarOf(t, tar.FormatPAX), tarOf(t, tar.FormatGNU), oldTar(t)},
		"a cpio archive": {"070701" + strings.Repeat("0000a1B2", 13) + "x", "070702" + strings.Repeat("00000000", 13) + "x",
			"070707" + strings.Repeat("0000017", 10) + "x",
			"\xc7\x71" + strings.Repeat("\x01\x00", 9) + names[:6] + "the-name-of-a-file\x00"[:17] + "\x00" + "data",
			"\x71\xc7" + strings.Repeat("\x00\x01", 9) + "\x00\x06\x00\x00\x00\x00" + "name2\x00"},
		"a zip archive":                         {written(func(w io.Writer) error { return zip.NewWriter(w).Close() })},
		"an executable (ELF)":                   {string(self)},
		"an executable (PE)":                    {padded("MZ", 58) + "\x80\x00\x00\x00" + padded("", 64) + padded("PE\x00\x00", 99)},
		"a script":                              {"#!/bin/sh", "#!/bin/sh\n\x00\x01\x02", "#! /usr/bin/env python3\nprint(1)\n"},
		"a capture of network packets":          {padded("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01", 15)},
		"a picture (PNG)":                       {written(func(w io.Writer) error { return png.Encode(w, picture) })},
		"a picture (JPEG)":                      {written(func(w io.Writer) error { return jpeg.Encode(w, picture, nil) })},
		"a picture (GIF)":                       {written(func(w io.Writer) error { return gif.Encode(w, picture, nil) })},
		"a picture, sound or film (RIFF)":       {padded("RIFF\x24\x00\x00\x00WAVEfmt ", 28)},
		"a Debian package":                      {"!<arch>\ndebian-binary   1342943816  0     0     100644  4         `\n2.0\n"},
		"a picture or film (ISO media, as MP4)": {padded("\x00\x00\x00\x18ftypmp42", 100)},
		"plain text":                            plainTexts(),
		"a disk image of Apple (DMG)":           {padded("\x78\x9c", 4094) + padded("koly\x00\x00\x00\x04\x00\x00\x02\x00", 500)},
		"a Linux kernel":                        {padded("", 0x202) + padded("HdrS", 5000), padded("", 56) + padded("ARM\x64", 5000)},
		"a database (Berkeley DB)":              {padded("", 12) + padded("\x62\x31\x05\x00", 5000)},
		"a document (Microsoft Office)":         {padded("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 5000)},
		"an ar archive or a library":            {"!<arch>\nlib.o/"},
		"an executable (Mach-O or Java)":        {padded("\xca\xfe\xba\xbe\x00\x00\x00\x34", 99)},
		"data compressed with zstd":             {padded("\x28\xb5\x2f\xfd", 9)},
		"a database (SQLite)":                   {padded("SQLite format 3\x00\x10\x00\x01\x01", 4096)},
		"a stream of zfs send":                  {padded("", 8) + padded("\xac\xcb\xba\xf5\x02\x00\x00\x00", 300)},
	}
}

// plainTexts are texts of several encodings and sizes.
func plainTexts() []string {
	inUTF16 := func(mark string, text string) string {
		b := []byte(mark)
		for _, u := range utf16.Encode([]rune(text)) {
			if mark[0] == 0xfe {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return string(b)
	}
	return []string{
		"x", "hello\n", "{\"json\": [1, 2]}", "\x1b[31mred\x1b[0m\r\n", "\xef\xbb\xbfwith a mark",
		strings.Repeat("Grüße aus Köln, 日本語 😀.\n", 10000), // characters are cut at 64 KiB
		strings.Repeat("x", 64<<10-1) + "😀" + strings.Repeat("y", 100),
		"caf\xe9, na\xefve, stra\xdfe: Latin-1\n",
		inUTF16("\xff\xfe", "text of Windows, 😀\r\n"), inUTF16("\xfe\xff", "the other way round\n"),
		inUTF16("\xff\xfe", strings.Repeat("😀", 20000)), inUTF16("\xff\xfe", "x"+strings.Repeat("😀", 20000)),
		"y\n" + strings.Repeat("y\n", 50000),
	}
}

// Every kind of the table is told, by Content and by Holds.
func TestContentKinds(t *testing.T) {
	samples := contentSamples(t)
	for what, files := range samples {
		for i, b := range files {
			if got := kindOf(t, []byte(b)); got != what {
				t.Errorf("%s, sample %d: %q", what, i, got)
			}
		}
	}
	for _, c := range contents {
		if c.check != nil || c.search != nil {
			if len(samples[c.what]) == 0 {
				t.Errorf("there is no sample of %s", c.what)
			}
			continue
		}
		for _, m := range c.magics {
			d := &sparseDisk{size: 1 << 20, pieces: []piece{{100, []byte("not zero")}}}
			off := m.at
			if off < 0 {
				off += d.size
			}
			d.pieces = append(d.pieces, piece{off, []byte(m.bytes)})
			if first := firstOf(contents, newView(d, d.size)); first == nil || first.what != c.what {
				t.Errorf("%s, %q: %+v", c.what, m.bytes, first)
			}
			if h := heldBy(t, d, Info{Kind: File}); h.What != "it is "+c.what || h.Advice != c.advice {
				t.Errorf("%q: %q", m.bytes, h)
			}
		}
	}
	for _, text := range plainTexts() {
		h, err := holds(strings.NewReader(text), Info{Kind: File, Size: int64(len(text))}, false)
		if err != nil || h.String() != "it is plain text" {
			t.Errorf("%.20q: %q, %v", text, h, err)
		}
	}
}

// What is no such file is not taken for one: images of nothing, of noise, of what
// wiping leaves, and files that only resemble the kinds that are looked at closely.
func TestContentOfNoKind(t *testing.T) {
	const n = 100 << 10
	files := map[string]string{
		"nothing": "", "zeros": padded("", n), "text and zeros": padded("hello\n", n),
		"a late zero":    strings.Repeat("text\n", 13000) + padded("", n),
		"UTF-16 of fill": strings.Repeat("\xff\xfe", n/2), "UTF-16 with a control": "\xff\xfeh\x00\x01\x00", "a mark alone": "\xff\xfe",
		"high bytes": strings.Repeat("\xe4\xf6\xfc ", 100), "a control": "some\x02text", "DEL": "some\x7ftext",
		"half a character": "\xc3", "gzip of reserved flags": padded("\x1f\x8b\x08\xe0", 20),
		"bzip2 without a block": padded("BZh9", 20), "bzip2 of size 0": "BZh0\x31\x41\x59\x26\x53\x59\x00",
		"compress of 30 bits": padded("\x1f\x9d\x9e", 20), "ELF of no class": padded("\x7fELF", 20),
		"MZ alone": padded("MZ", 600), "MZ that leads far away": padded("MZ", 58) + padded("\xff\xff\xff\x7f", 600),
		"a script without a path": padded("#!\n", 600), "a script of noise": padded("#!/\x01\n", 600), "a script without an end": padded("#!/bin/sh", 600),
		"JPEG without a marker": padded("\xff\xd8\xff\x01", 20), "RIFF of nothing": padded("RIFF", 20),
		"pcapng of no byte order": padded("\x0a\x0d\x0d\x0a", 20),
		"cpio of no digits":       "070701" + padded("", 200), "odc of no digits": "070707" + strings.Repeat("8", 70) + "\x00",
		"cpio of a long name": "\xc7\x71" + strings.Repeat("\x01\x00", 9) + "\xff\xff" + padded("", 70000), "cpio of no name": padded("\xc7\x71", 100),
		"cpio of two zeros": "\xc7\x71" + strings.Repeat("\x01\x00", 9) + "\x06\x00\x00\x00\x00\x00" + "na\x00me\x00",
		"a short cpio":      "\xc7\x71\x00",
	}
	for b := range 256 {
		files[fmt.Sprintf("all %#x", b)] = strings.Repeat(string([]byte{byte(b)}), n)
	}
	wrong := []byte(tarOf(t, tar.FormatUSTAR))
	wrong[20] ^= 1
	files["tar with a wrong checksum"] = string(wrong)
	for seed := range uint64(200) {
		b := make([]byte, n)
		r := rand.NewChaCha8([32]byte{byte(seed)})
		_, _ = r.Read(b)
		files[fmt.Sprintf("noise %d", seed)] = string(b)
	}
	for name, b := range files {
		if got := kindOf(t, []byte(b)); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, s := range allSamples() { // of disks
		if v := newView(&s.disk, s.disk.size); !formatNamed(s.name).container && firstOf(contents, v) != nil {
			t.Errorf("%s: %q", s.name, firstOf(contents, v).what)
		}
	}
}

// Parts of a file, holes and what cannot be read have no Content.
func TestContentOfPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("text\n"), 1024), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, Options{Window: &Window{Offset: 0, Length: 4096}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if what, err := d.Content(); what != "" || err != nil {
		t.Errorf("a part: %q, %v", what, err)
	}
	whole, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if what, err := whole.Content(); what != "" || err == nil {
		t.Errorf("of what is gone: %q, %v", what, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	hole, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	if what, err := hole.Content(); what != "" || err != nil {
		t.Errorf("a hole: %q, %v", what, err)
	}
}

// Programs that are there make files of the kinds that they should.
func TestContentOfPrograms(t *testing.T) {
	for _, c := range []struct{ want, command string }{
		{"data compressed with gzip", "echo x | gzip"},
		{"data compressed with xz", "echo x | xz"},
		{"data compressed with zstd", "echo x | zstd"},
		{"data compressed with lz4", "echo x | lz4"},
		{"data compressed with bzip2", "echo x | bzip2"},
		{"data compressed with lzop", "echo x | lzop"},
		{"data compressed with lzip", "echo x | lzip"},
		{"a tar archive", "tar -c /etc/passwd"},
		{"a tar archive", "tar -c --format=v7 /etc/passwd"},
		{"a cpio archive", "echo /etc/passwd | cpio -o"},
		{"a cpio archive", "echo /etc/passwd | cpio -o -H newc"},
		{"a cpio archive", "echo /etc/passwd | cpio -o -H crc"},
		{"a cpio archive", "echo /etc/passwd | cpio -o -H odc"},
		{"a zip archive", "echo x | zip"},
		{"an ar archive or a library", "ar rc F /etc/passwd; cat F"},
		{"an executable (ELF)", "cat /bin/sh"},
		{"a database (SQLite)", "sqlite3 F 'create table x (y)'; cat F"},
		{"a database (Berkeley DB)", "echo 'a\nb' | db_load -T -t btree F; cat F"},
		{"a database (Berkeley DB)", "perl -MDB_File -e 'tie(%h, DB_File, q(F))'; cat F"},
		{"a database (GDBM)", "perl -MGDBM_File -e 'tie(%h, GDBM_File, q(F), GDBM_WRCREAT, 0666)'; cat F"},
		{"a journal of systemd", "cat /var/log/journal/*/system.journal"},
		{"a pack of Git", "git init -q . && echo | git hash-object -w --stdin | git pack-objects -q --stdout"},
		{"an encrypted file (openssl)", "echo x | openssl enc -aes-128-cbc -pbkdf2 -pass pass:x"},
	} {
		words := strings.Fields(strings.NewReplacer("|", " ", ";", " ").Replace(c.command))
		program := words[0]
		if _, behind, piped := strings.Cut(c.command, "| "); piped {
			program = strings.Fields(behind)[0]
		}
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("there is no %s", program)
			continue
		}
		run := exec.Command("sh", "-c", c.command)
		run.Dir = t.TempDir()
		out, err := run.Output()
		if err != nil || len(out) == 0 {
			t.Logf("%s: %v", c.command, err)
			continue
		}
		if got := kindOf(t, out); got != c.want {
			t.Errorf("%s: %q", c.command, got)
		}
	}
}
