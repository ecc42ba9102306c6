package options

import "strings"

// Completion is what may follow, as a whole word, and what that is.
type Completion struct{ Text, Help string }

// Complete tells how the argument of an option of one letter may go on: the last
// suboption's name, or its value where there are few.
func Complete(flag byte, arg string) []Completion { return complete(Sections, flag, arg) }

func complete(table []Section, flag byte, arg string) (list []Completion) {
	p := newParser(table)
	s := p.section(flag)
	before, last := arg[:strings.LastIndexByte(arg, ',')+1], arg[strings.LastIndexByte(arg, ',')+1:]
	name, value, hasValue := strings.Cut(last, "=")
	if hasValue {
		if row := s.row(name); row != nil {
			for _, v := range row.Values {
				if strings.HasPrefix(v, value) {
					list = append(list, Completion{before + name + "=" + v, row.Help})
				}
			}
		}
		return list
	}
	given := map[string]bool{}
	for _, item := range strings.Split(before, ",") {
		had, _, _ := strings.Cut(item, "=")
		given[had] = true
	}
	for _, r := range s.Rows {
		if strings.HasPrefix(r.Name, name) && (!given[r.Name] || r.again) {
			list = append(list, Completion{before + r.Name + "=", r.Help})
		}
	}
	return list
}
