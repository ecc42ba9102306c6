package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The plot has a panel a host and kind of write: rates on the left scale, and
// one panel for the average depth.
const (
	panelW, panelH = 300.0, 190.0
	marginX        = 55.0
	marginY        = 50.0
)

var colours = map[string]string{"io_uring": "#1f6fb4", "aio": "#c8571b", "sync": "#4b8f3a"}

// plot draws the curves as SVG.
func plot(curves []curve) string {
	var panels []string
	byPanel := map[string][]curve{}
	for _, c := range curves {
		key := c.host + ", " + c.mode
		if byPanel[key] == nil {
			panels = append(panels, key)
		}
		byPanel[key] = append(byPanel[key], c)
	}
	columns := 3
	count := len(panels) + 1 // and the depth
	rows := (count + columns - 1) / columns
	width := float64(columns)*(panelW+marginX) + 20
	height := float64(rows)*(panelH+marginY+30) + 20
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
		`font-family="sans-serif" font-size="11">`+"\n", width, height)
	fmt.Fprintf(&s, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	place := func(i int) (x, y float64) {
		return marginX + float64(i%columns)*(panelW+marginX), 40 + float64(i/columns)*(panelH+marginY+30)
	}
	for i, name := range panels {
		x, y := place(i)
		frame(&s, x, y, "rate on "+name, []float64{0, 0.25, 0.5, 0.75, 1}, linear(0, 1.05), "%.2f")
		for _, c := range byPanel[name] {
			rate := c.rate
			for len(rate) < len(depths) { // one depth is as good as another
				rate = append(rate, rate[0])
			}
			line(&s, x, y, rate, linear(0, 1.05), colours[c.engine])
		}
	}
	x, y := place(len(panels))
	frame(&s, x, y, "average depth, io_uring", []float64{1, 4, 16, 64}, logarithmic(1, 150), "%.0f")
	for _, c := range curves {
		if c.engine == "io_uring" {
			line(&s, x, y, c.average, logarithmic(1, 150), colours[c.engine])
		}
	}
	at := marginX
	for _, e := range engines {
		fmt.Fprintf(&s, `<rect x="%.0f" y="6" width="14" height="4" fill="%s"/><text x="%.0f" y="12">%s</text>`+"\n", at,
			colours[e], at+18, e)
		at += 90
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// scale maps a value to 0 at the bottom and 1 at the top.
type scale func(float64) float64

func linear(low, high float64) scale {
	return func(v float64) float64 { return (v - low) / (high - low) }
}

func logarithmic(low, high float64) scale {
	return func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }
}

var across = logarithmic(0.9, 145)

func frame(s *strings.Builder, x, y float64, title string, ticks []float64, up scale, format string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" font-weight="bold">%s</text>`+"\n", x, y-8, html.EscapeString(title))
	fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.0f" height="%.0f" fill="none" stroke="#888"/>`+"\n", x, y, panelW,
		panelH)
	for _, v := range ticks {
		at := y + panelH*(1-up(v))
		fmt.Fprintf(s, `<path d="M%.1f %.1fh%.0f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">`+format+
			`</text>`+"\n", x, at, panelW, x-5, at+4, v)
	}
	for _, d := range depths {
		if d == 128 { // would run into 100
			continue
		}
		at := x + panelW*across(float64(d))
		fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", at, y+panelH+14, d)
	}
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="middle">queue depth</text>`+"\n", x+panelW/2, y+panelH+28)
}

func line(s *strings.Builder, x, y float64, values []float64, up scale, colour string) {
	var points []string
	for i, v := range values {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x+panelW*across(float64(depths[i])), y+panelH*(1-up(max(v, 1e-9)))))
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "),
		colour)
	for _, p := range points {
		px, py, _ := strings.Cut(p, ",")
		fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="2.5" fill="%s"/>`+"\n", px, py, colour)
	}
}
