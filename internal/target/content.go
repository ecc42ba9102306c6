package target

// content is something that people keep in files and that is neither a filesystem
// nor a disk: libblkid does not know it, so it is no Signature.
type content struct {
	what   string // as it stands behind "holds": "a tar archive"
	advice string // how to get to an image that it may hold; "" if there is none
	format        // how it is found; of the rest only minSize counts
}

// Content names what a regular file is if it is no image of anything: text, a
// script, an archive, an executable, a database, a document. It is "" for what is
// of no known kind, for block devices, and for parts of files, whose whole may be
// a disk. An error is one of reading.
//
// A file with a Signature may have a Content as well; the Signature is what counts.
func (t *Target) Content() (string, error) {
	if t.info.Kind != File || t.info.Part || t.Blank() {
		return "", nil
	}
	v := newView(t, t.info.Size)
	for _, table := range [][]content{contents, texts} {
		if c := firstOf(table, v); c != nil {
			return c.what, nil
		}
	}
	return "", v.err
}

// firstOf is the first kind of a table that a target is, nil for none or if it
// cannot be read.
func firstOf(table []content, v *view) *content {
	for i := range table {
		if _, ok := table[i].find(v); ok && v.err == nil {
			return &table[i]
		}
	}
	return nil
}

// held is what a target with such content holds.
func (c *content) held() Held { return Held{What: "it is " + c.what, Advice: c.advice} }
