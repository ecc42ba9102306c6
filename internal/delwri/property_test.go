package delwri

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// TestModel drives a List with random calls. The disk is cut into cells, a
// buffer is a cell, and the reference is what each cell was last issued with.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newMachine(t).run(t)
	})
}

const cells, cellSize = 64, 1000

// machine is a List and what is known of it.
type machine struct {
	m      *model
	l      *List
	rnd    *rand.Rand
	age    int64
	copies bool // are written, not the buffers
	room   int  // cells that there is memory for in a batch
	fails  bool

	now  int64
	cell [cells]cell
	slab []byte
	want []byte // on the disk once all batches are done
}

type cell struct {
	Buffer
	born     int64
	promoted bool
	held     bool // back by Take
}

func newMachine(t *rapid.T) *machine {
	seed := rapid.Uint64().Draw(t, "seed")
	c := &machine{
		m: newModel(cells*cellSize, rapid.IntRange(1, 10).Draw(t, "depth"), seed), rnd: rand.New(rand.NewPCG(seed, 1)),
		age: rapid.Int64Range(0, 4).Draw(t, "age"), copies: rapid.Bool().Draw(t, "copies"), slab: make([]byte, cells*cellSize),
		want: make([]byte, cells*cellSize),
	}
	cfg := Config{MaxRequest: rapid.SampledFrom([]int{0, 1, 4096, 9000}).Draw(t, "max"), Age: c.age}
	if c.copies {
		cfg.Take = func(b *Buffer) ([]byte, bool) {
			switch {
			case b.Owner.(*cell).held:
				return nil, true
			case c.room == 0:
				return nil, false
			}
			c.room--
			return bytes.Clone(b.Data), true
		}
	}
	if c.fails = rapid.IntRange(0, 3).Draw(t, "fails") == 0; c.fails {
		c.m.badByte = rapid.Int64Range(0, cells*cellSize-1).Draw(t, "bad")
	}
	c.l = NewList(c.m, cfg)
	for i := range c.cell {
		b := &c.cell[i]
		b.Buffer = Buffer{Off: int64(i * cellSize), Place: Place{int64(i), "cell"}, Owner: b, Data: c.slab[i*cellSize:][:cellSize]}
	}
	return c
}

// add changes a cell and queues it.
func (c *machine) add(i int) {
	b := &c.cell[i]
	if !c.copies && c.l.Flying(b.Off, cellSize) && !b.Queued() {
		b.Data = make([]byte, cellSize) // what it has is the Writer's
	} else if !c.copies && c.l.Flying(b.Off, cellSize) {
		return
	}
	for j := range b.Data {
		b.Data[j] = byte(c.rnd.Uint32())
	}
	if !b.Queued() {
		b.born, b.promoted = c.now, false
	}
	c.l.Add(&b.Buffer)
}

func (c *machine) due(b *cell) bool { return b.Queued() && (b.promoted || c.now-b.born >= c.age) }

// issue issues, and checks what was chosen and how it was handed on.
func (c *machine) issue(t *rapid.T, all bool) {
	var chosen, able []int
	dueBytes, before := int64(0), c.l.Stats().Bytes
	for i := range c.cell {
		b := &c.cell[i]
		if c.due(b) {
			dueBytes += cellSize
		}
		if c.due(b) || all && b.Queued() {
			chosen = append(chosen, i)
			if !b.held && !c.l.Flying(b.Off, cellSize) {
				able = append(able, i)
			}
		}
	}
	if c.l.Due() != dueBytes {
		t.Fatalf("%d bytes are due, want %d", c.l.Due(), dueBytes)
	}
	most := len(able)
	if c.copies {
		c.room = rapid.IntRange(0, 20).Draw(t, "room")
		most = min(most, c.room)
	}
	c.m.log = c.m.log[:0]
	from, issue := c.l.from, c.l.IssueDue
	if all {
		issue = c.l.Issue
	}
	err := issue()
	n := 0
	for _, i := range chosen {
		if b := &c.cell[i]; !b.Queued() {
			copy(c.want[b.Off:], b.Data)
			n++
		}
	}
	if err != nil {
		c.failed(t)
		return
	}
	// A place that was in flight may have come free meanwhile.
	if n < most || c.l.Stats().Bytes-before != int64(n*cellSize) {
		t.Fatalf("%d of %d cells issued, want %d; %d bytes", n, len(chosen), most, c.l.Stats().Bytes-before)
	}
	c.checkLog(t, from)
}

// checkLog wants requests in order, from where the batch before ended on, and as
// long as may be.
func (c *machine) checkLog(t *rapid.T, from int64) {
	log := c.m.log
	ascends := func(list []taken) bool {
		return slices.IsSortedFunc(list, func(a, b taken) int { return int(a.off - b.off) })
	}
	i := 0
	for i < len(log) && log[i].off >= from {
		i++
	}
	if !ascends(log[:i]) || !ascends(log[i:]) {
		t.Fatalf("requests out of order: %v", log)
	}
	for j, s := range log {
		if n := int(s.end - s.off); n > c.l.cfg.MaxRequest {
			t.Fatalf("request of %d bytes, limit %d", n, c.l.cfg.MaxRequest)
		}
		if j > 0 && s.off == log[j-1].end && int(s.end-log[j-1].off) <= c.l.cfg.MaxRequest {
			t.Fatalf("neighbours not merged: %v %v", log[j-1], s)
		}
	}
}

// failed checks the error and goes on as if a new device had been put in.
func (c *machine) failed(t *rapid.T) {
	err := c.l.Wait()
	var e *WriteError
	if !c.fails || !errors.As(err, &e) || e.Off != c.m.badByte || e.Place.AG != c.m.badByte/cellSize || e.Err != error(syscall.EIO) {
		t.Fatalf("error %v, want one at byte %d", err, c.m.badByte)
	}
	if c.l.queued != 0 || c.l.due != 0 || c.l.flying != 0 || len(c.m.held) != 0 {
		t.Fatal("not empty after an error")
	}
	c.m.first, c.m.told, c.m.badByte, c.fails = nil, false, -1, false
	copy(c.m.disk, c.want)
}

func (c *machine) wait(t *rapid.T, n int64) {
	if err := c.l.WaitFor(n); err != nil {
		c.failedWith(t, err)
		return
	}
	if c.l.Done() < min(n, c.l.Issued()) {
		t.Fatalf("%d batches done, waited for %d", c.l.Done(), n)
	}
	if c.l.Done() < c.l.Issued() {
		return
	}
	if len(c.m.held) != 0 || c.l.flying != 0 {
		t.Fatal("Wait came back with requests in flight")
	}
	if !bytes.Equal(c.m.disk, c.want) {
		t.Fatal("disk differs from the reference")
	}
}

// failedWith is failed after Wait has told of it.
func (c *machine) failedWith(t *rapid.T, err error) {
	c.l.err = err
	c.failed(t)
}

func (c *machine) run(t *rapid.T) {
	anyCell := rapid.IntRange(0, cells-1)
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) { c.add(anyCell.Draw(t, "cell")) },
		"run": func(t *rapid.T) {
			from := anyCell.Draw(t, "from")
			for i := from; i < min(cells, from+20); i++ {
				c.add(i)
			}
		},
		"promote": func(t *rapid.T) {
			b := &c.cell[anyCell.Draw(t, "cell")]
			c.l.Promote(&b.Buffer)
			b.promoted = b.promoted || b.Queued()
		},
		"remove": func(t *rapid.T) { c.l.Remove(&c.cell[anyCell.Draw(t, "cell")].Buffer) },
		"hold": func(t *rapid.T) {
			b := &c.cell[anyCell.Draw(t, "cell")]
			b.held = c.copies && !b.held
		},
		"tick":   func(*rapid.T) { c.l.Tick(); c.now++ },
		"issue":  func(t *rapid.T) { c.issue(t, true) },
		"due":    func(t *rapid.T) { c.issue(t, false) },
		"wait":   func(t *rapid.T) { c.wait(t, c.l.Issued()) },
		"oldest": func(t *rapid.T) { c.wait(t, c.l.Done()+1) },
		"submit": func(t *rapid.T) {
			c.room = 1 << 20
			for i := range c.cell {
				b := &c.cell[i]
				b.held = false
				if b.Queued() {
					copy(c.want[b.Off:], b.Data)
				}
			}
			if err := c.l.Submit(); err != nil {
				c.failedWith(t, err)
			} else if c.l.Queued() != 0 {
				t.Fatal("Submit left something")
			}
			c.wait(t, c.l.Issued())
		},
	})
}
