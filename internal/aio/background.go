package aio

import "runtime"

// Background says that the caller has work of its own between its writes from here on, which can be done
// meanwhile. Most engines write in the background anyway. That of [Sync] gets a helper for it, as soon as
// there is enough to write to be worth another thread, and if there is a processor for that; then so
// many requests may be in flight as a Ring has for that at least, whatever the depth that was asked for.
// Without work between them writes are slower that way: what is in one processor's cache
// is written by another.
func (r *Ring) Background() {
	if e, ok := r.eng.(*syncEngine); ok && e.helper == nil && runtime.GOMAXPROCS(0) > 1 {
		r.alone, r.helpFrom = e, r.stats.Bytes+worthHelp
	}
}

const (
	// worthHelp is how many bytes are worth starting a thread for.
	worthHelp = 4 << 20
	// helpDepth is how many requests may be in flight with a helper: about as many as there are
	// in a few MiB of metadata.
	helpDepth = 32
)

// help starts the helper, once it is worth it and nothing is in flight.
func (r *Ring) help() {
	if r.stats.Bytes < r.helpFrom || r.inflight > 0 {
		return
	}
	if len(r.ops) < helpDepth {
		r.slots(helpDepth)
	}
	r.alone.helper = startHelper(r.alone.fd)
	r.alone = nil
}
