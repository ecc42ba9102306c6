// Package options turns what was written, on the command line or in a
// configuration file, into a Request. There is one table of suboptions; the
// command line, configuration files and the help all come from it.
//
// Configuration files are read by a parser of our own. gopkg.in/ini.v1 cannot
// take its place: a key does not know the line it is on, so that neither an
// unknown key nor one that is given twice could be told with its line.
package options

import "mkfs/internal/geometry"

// Request is all that was asked for.
type Request struct {
	Spec geometry.Spec
	UUID geometry.Opt[[16]byte]
	Data TargetName
	Log  TargetName
	RT   TargetName

	ConfigFile   geometry.Opt[string] // -c options
	DefaultsFile geometry.Opt[string] // -c defaults
	MakeConfig   geometry.Opt[string] // -c makecfg
	Proto        Proto
	Sized        bool // --size: the target is a file that may be made or grown

	defaults bool // what is set is a default
}

// Proto is what the new filesystem is filled with.
type Proto struct {
	Path             geometry.Opt[string] // a directory or a prototype file
	SlashesAreSpaces geometry.Opt[bool]   // in names of a prototype file
	AccessTimes      geometry.Opt[bool]   // of a directory's files are kept
}

// TargetName names where a section is: a device or a file.
type TargetName struct {
	Path geometry.Opt[string]
	File geometry.Opt[bool] // a regular file to be made, or emptied, and given the section's size
}
