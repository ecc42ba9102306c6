// Package options turns what was written, on the command line or in a
// configuration file, into a Request. There is one table of suboptions; the
// command line, configuration files and the help all come from it.
package options

import "mkfs/internal/geometry"

// Request is all that was asked for.
type Request struct {
	Spec geometry.Spec
	UUID geometry.Opt[[16]byte]
	Data Place
	Log  Place
	RT   Place

	ConfigFile geometry.Opt[string] // -c options
	Proto      geometry.Opt[string] // -p
	Sized      bool                 // --size: the target is a file that may be made or grown
}

// Place is where a section is: a device or a file.
type Place struct {
	Path geometry.Opt[string]
	File geometry.Opt[bool] // a regular file to be made, or emptied, and given the section's size
}
