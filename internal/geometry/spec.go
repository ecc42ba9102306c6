package geometry

// Opt is a value that may not have been given.
type Opt[T any] struct {
	Value T
	Given bool
	// Default says that it was given only as a default, which others go before:
	// where it does not fit what was asked for it is dropped, not refused.
	Default bool
}

// Given wraps a value that was asked for.
func Given[T any](v T) Opt[T] { return Opt[T]{Value: v, Given: true} }

// asked tells whether the value was asked for, and not only given as a default.
func (o Opt[T]) asked() bool { return o.Given && !o.Default }

// or is the value, or def where none was given.
func (o Opt[T]) or(def T) T {
	if o.Given {
		return o.Value
	}
	return def
}

// Spec is what was asked of a filesystem; "not given" is explicit.
// Its zero value asks for the defaults.
type Spec struct {
	BlockSize  Opt[int64]
	SectorSize Opt[int64] // of the data section

	Data  DataSpec
	Log   LogSpec
	Inode InodeSpec
	RT    RealtimeSpec

	DirBlockSize Opt[Size]
	Features     FeatureSpec
	Label        string

	// PlanFor is the size that the filesystem will grow to.
	PlanFor Opt[Size]

	// Refused are options, as "-d agsize", that were asked for but made no sense.
	// Nothing is known of their values; Plan says what is wrong with the rest.
	Refused []string

	// SmallAllowed lifts the least sizes of filesystem and log and the least
	// number of AGs that the tools support.
	SmallAllowed bool
	// CPUs is what concurrency "nr_cpus" stands for.
	CPUs int
}

// DataSpec is what was asked of the data section.
type DataSpec struct {
	Size Opt[Size]
	// Whole says that Size is all of the device: a realtime section behind the
	// data section is within it.
	Whole       bool
	AGCount     Opt[int64]
	AGSize      Opt[Size]
	Concurrency Opt[int64]

	StripeUnit512  Opt[int64] // sunit, in basic blocks
	StripeWidth512 Opt[int64] // swidth, in basic blocks
	StripeUnit     Opt[Size]  // su
	StripeWidth    Opt[int64] // sw, in stripe units
	NoAlign        Opt[bool]

	Inherit Inherit
}

// Inherit is what the root directory hands on to files made in it.
type Inherit struct {
	ProjectID  Opt[uint32]
	ExtentSize Opt[uint32] // in blocks
	CowExtent  Opt[uint32] // in blocks
	DAX        Opt[bool]
	Realtime   Opt[bool]
}

// LogSpec is what was asked of the log.
type LogSpec struct {
	External      bool
	Size          Opt[Size]
	AG            Opt[int64]
	StripeUnit512 Opt[int64] // sunit, in basic blocks
	StripeUnit    Opt[Size]  // su
	SectorSize    Opt[int64]
	Concurrency   Opt[int64]
}

// RealtimeSpec is what was asked of the realtime section.
type RealtimeSpec struct {
	Device      bool // it is on a device of its own
	ExtentSize  Opt[Size]
	Size        Opt[Size]
	NoAlign     Opt[bool]
	GroupCount  Opt[int64]
	GroupSize   Opt[Size]
	Concurrency Opt[int64]
	Zoned       Opt[bool]
	Start       Opt[Size] // of a section within the data device
	Reserved    Opt[Size]
}

// InodeSpec is what was asked of inodes.
type InodeSpec struct {
	Size       Opt[int64]
	PerBlock   Opt[int64]
	MaxPercent Opt[int64]

	MaxAtomicWrite Opt[Size]
}

// FeatureSpec is which features were asked for.
type FeatureSpec struct {
	CRC, Finobt, InobtCount, Rmapbt, Reflink, Bigtime Opt[bool] // -m
	Metadir                                           Opt[bool] // -m
	Sparse, Nrext64, Exchange, Align, Projid32        Opt[bool] // -i
	LazyCount                                         Opt[bool] // -l
	Ftype, Parent, CaseFold                           Opt[bool] // -n
	Attr                                              Opt[int64]
	LogVersion                                        Opt[int64]
	Autofsck                                          Opt[Autofsck]
	// AutofsckSwitch says that Autofsck was given as a switch, 0 or 1: V4
	// refuses that, and ignores a word.
	AutofsckSwitch bool
	Quota          QuotaFlags
}

// QuotaFlags are the kinds of quota that are on, as the superblock has them.
type QuotaFlags uint16

// The bits of QuotaFlags: what is counted, and what of it is limited.
const (
	CountUsers    QuotaFlags = 0x001
	LimitUsers    QuotaFlags = 0x002
	CountProjects QuotaFlags = 0x008
	CountGroups   QuotaFlags = 0x040
	LimitGroups   QuotaFlags = 0x080
	LimitProjects QuotaFlags = 0x200
)

// Autofsck is what the filesystem asks of a background checker, a property of
// the root directory.
type Autofsck string

// The values of the autofsck property. Unset writes none.
const (
	AutofsckUnset    Autofsck = ""
	AutofsckNone     Autofsck = "none"
	AutofsckCheck    Autofsck = "check"
	AutofsckOptimize Autofsck = "optimize"
	AutofsckRepair   Autofsck = "repair"
)

// Device is what the targets are. The parts of log and realtime section count
// only if these are on devices of their own.
type Device struct {
	Size           Bytes
	LogicalSector  int64
	PhysicalSector int64
	// Misaligned says that the device's start does not lie on a physical sector.
	Misaligned bool
	IO         IOSizes
	SolidState bool
	// File says that one of the targets is a file. The sectors of whatever device it
	// comes to are not known, so that those of the others need not be the same.
	File bool
	// Grows says that the file may be made as long as the size asked for.
	Grows bool

	Log struct {
		Size          Bytes
		LogicalSector int64
		Grows         bool
		// File says that it is in a file that is there: it may be asked to have smaller
		// sectors than its host.
		File bool
	}

	RT struct {
		Size           Bytes
		LogicalSector  int64
		PhysicalSector int64
		Misaligned     bool
		IO             IOSizes
		Grows          bool // as Device.Grows
		SolidState     bool
	}
}
