package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// The plot is XML, and small enough for a repository.
func TestPlot(t *testing.T) {
	var curves []curve
	for _, host := range []string{"tmpfs", "ext4", "a<b"} {
		for _, engine := range engines {
			c := curve{host: host, mode: "direct", engine: engine}
			for range depths {
				c.rate, c.average = append(c.rate, 0.5), append(c.average, 7)
			}
			curves = append(curves, c)
		}
	}
	svg := plot(curves)
	if len(svg) > 100<<10 {
		t.Errorf("%d bytes", len(svg))
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
