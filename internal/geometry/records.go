package geometry

// Records are the records of a btree's only leaf. Slots beyond the live ones
// hold what a record that was removed left behind: removing shifts the
// records above it down and does not clear the last slot.
type Records[T any] struct {
	slots []T
	live  int
}

// Live is the records in order.
func (r *Records[T]) Live() []T { return r.slots[:r.live] }

// Slots is the live records and behind them the remains of removed ones.
func (r *Records[T]) Slots() []T { return r.slots }

func (r *Records[T]) insert(i int, e T) {
	if r.live == len(r.slots) {
		var none T
		r.slots = append(r.slots, none)
	}
	copy(r.slots[i+1:r.live+1], r.slots[i:r.live])
	r.slots[i] = e
	r.live++
}

func (r *Records[T]) remove(i int) {
	copy(r.slots[i:], r.slots[i+1:r.live])
	r.live--
}
