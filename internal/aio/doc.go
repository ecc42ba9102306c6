// Package aio keeps a bounded number of reads and writes in flight against
// one file descriptor. It knows nothing of filesystems.
//
//	caller ── Write, Read ──> Ring ── queue, commit ──> engine ──> kernel
//	caller <── done ───────── Ring <── reap ─────────── engine <── kernel
//
// # The core and the engines
//
// A [Ring] owns everything that is alike for all engines: how many requests
// are in flight, which memory they hold, what to do about a short transfer, a
// retry, an error. An engine only starts requests and reports raw results.
// There are three, and the first that works is taken ([Auto]):
//
//   - io_uring: batched submission and reaping, one system call for many
//     requests. Containers and hardened hosts often forbid it, and it is not
//     used for files on FUSE, where the kernel continues short transfers wrongly.
//   - Linux AIO (io_submit): asynchronous for direct IO. On a buffered file
//     the kernel does the work inside io_submit; correct, but no faster than
//     the next one.
//   - sync: pwritev and preadv, one request at a time. After [Ring.Background] a
//     goroutine of the Ring's own writes while the caller goes on.
//
// Engines are probed by use, never guessed from a kernel version: a
// backported kernel or a seccomp filter makes versions worthless.
//
// # Contract
//
// One goroutine. A Ring does no locking, and completions run on the goroutine
// that calls into it. The goroutine that calls [Open] must be the one that
// uses the Ring and calls [Ring.Close]; between the two it is locked to its
// thread, because io_uring's cheap modes (SINGLE_ISSUER, DEFER_TASKRUN) tie a
// ring to the thread that made it, and because the kernel cancels a thread's
// requests when the thread ends.
//
// Memory. From the moment Write or Read takes a request until its done
// function runs, the memory of its pieces belongs to the Ring: the caller
// must not change it, nor release it if it is not garbage collected. The Ring
// keeps Go memory reachable for that long. The slice of pieces itself is
// copied and may be reused at once.
//
// Order. Requests may be carried out and may complete in any order. Requests
// that overlap must not be in flight together. Reap all of them for a barrier.
//
// Completion. The done function of a request that was taken runs exactly
// once, inside a later call to Write, Read, Reap, Sync or Close, never inside
// the call that took it. It must not call into the Ring (that panics).
//
// Batching. A taken request may wait in the Ring until a sixteenth of the
// depth has gathered; Reap(0) pushes what waits. When the ring is full, Write
// waits for as many to complete rather than for one. So the cost of a system
// call and of a wake-up is shared while the queue stays fifteen sixteenths
// full. The figure is not critical: at depth 100, one at a time costs about a
// fifth more where the device is free (io_uring on tmpfs), and with direct IO
// anything from one to a quarter of the depth measures the same. A
// caller that computes for long with requests in flight calls Reap(0) now and
// then: the cheapest io_uring mode does its part of a request, for example
// the second half of a buffered write, only inside a call.
//
// Transfers. A short transfer is continued where it stopped. A write that
// moves nothing is an error (io.ErrShortWrite); so is a read that does, which
// is the end of the file (io.ErrUnexpectedEOF). EINTR and EAGAIN are retried,
// with pauses, until a request has made no progress for three seconds.
//
// Direct IO. A file that takes O_DIRECT when it is opened may still refuse a
// transfer with EINVAL, by its alignment or in some part of it. Then the Ring
// clears O_DIRECT on the descriptor and retries this and later requests by
// way of the page cache; no request is lost, and [Stats] tells.
//
// Errors. The first hard error stops the Ring: requests that no engine has
// been given yet are completed with [ErrCanceled], those the kernel has are
// waited for, and from then on Write, Read, Reap, Sync and Close all return
// that first error. A failed flush counts: after it the kernel may have
// dropped the pages it could not write, and a second flush would lie. Errors
// of requests are of type [*Error] and say at which byte the transfer
// stopped. A Ring is not repaired; open another.
package aio
