package format

import (
	"testing"

	"mkfs/internal/aio"
)

// What the user asked for is never changed; the rest follows the target.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		asked  aio.Config
		direct bool
		want   aio.Config
	}{
		{aio.Config{}, true, aio.Config{}},
		{aio.Config{}, false, aio.Config{Engine: aio.Sync, Depth: 1}},
		{aio.Config{Depth: 7}, false, aio.Config{Depth: 7}},
		{aio.Config{Engine: aio.Uring}, false, aio.Config{Engine: aio.Uring}},
		{aio.Config{Engine: aio.AIO, Depth: 7}, true, aio.Config{Engine: aio.AIO, Depth: 7}},
	} {
		if got := choose(c.asked, c.direct); got != c.want {
			t.Errorf("choose(%+v, %v) = %+v, want %+v", c.asked, c.direct, got, c.want)
		}
	}
}
