package target

import (
	"fmt"
	"strings"
)

// description is what a Signature's name means to somebody who looks for an XFS.
type description struct{ what, advice string }

const (
	mapper  = "and give the device of /dev/mapper that it makes"
	convert = "convert it to raw first: qemu-img convert -O raw IMAGE RAW"
)

// descriptions are those that more can be said of than their name.
var descriptions = map[string]description{
	"LVM2_member": {"it is a physical volume of LVM",
		"the filesystem is in a logical volume: activate it (vgchange -ay) and give that, /dev/GROUP/VOLUME"},
	"LVM1_member": {"it is a physical volume of LVM 1", "the filesystem is in a logical volume"},
	"crypto_LUKS": {"it is encrypted (LUKS)", "open it (cryptsetup open) " + mapper},
	"BitLocker":   {"it is encrypted (BitLocker)", "open it (cryptsetup open --type bitlk) " + mapper},
	"cs_fvault2":  {"it is encrypted (FileVault)", "open it (cryptsetup open --type fvault2) " + mapper},

	"linux_raid_member": {"it is a member of a RAID of Linux (md)",
		"assemble it (mdadm --assemble) and give the device /dev/mdN"},
	"ddf_raid_member": {"it is a member of a RAID (DDF)", "assemble it (mdadm --assemble) and give the device /dev/mdN"},
	"isw_raid_member": {"it is a member of a RAID (Intel)",
		"assemble it (mdadm --assemble) and give the device /dev/mdN"},

	"bcache":           {"it is a device of bcache", "give the device /dev/bcacheN"},
	"drbd":             {"it is a device of DRBD", "give the device /dev/drbdN"},
	"vdo":              {"it is a device of VDO", "give the VDO volume"},
	"stratis":          {"it is a device of a Stratis pool", "give the device of the pool's filesystem"},
	"DM_integrity":     {"it is a device of dm-integrity", "open it (integritysetup open) " + mapper},
	"DM_verity_hash":   {"it is the hash device of dm-verity", "give the data device"},
	"DM_snapshot_cow":  {"it is the store of a snapshot of the device mapper", "give the snapshot"},
	"xfs_external_log": {"it is the external log of an XFS", "give the data device, and this one with --logdev"},
	"xfs_realtime":     {"it is the realtime device of an XFS", "give the data device"},
	"xfs_metadump":     {"it is a dump of xfs_metadump, which holds metadata only", "xfs_mdrestore makes an image of it"},
	"swap":             {"it is swap space", ""},
	"swsuspend":        {"it is swap space with a suspended system", ""},

	"qcow2":     {"it is a qcow2 disk image", convert},
	"qed":       {"it is a qed disk image", convert},
	"vmdk":      {"it is a vmdk disk image", convert},
	"vhd":       {"it is a vhd disk image", convert},
	"vhdx":      {"it is a vhdx disk image", convert},
	"vdi":       {"it is a vdi disk image", convert},
	"parallels": {"it is a disk image of Parallels", convert},
}

// describeSignature is what a target with a signature is.
func describeSignature(s Signature) Held {
	if d, ok := descriptions[s.Name]; ok {
		return Held{What: d.what, Advice: d.advice}
	}
	switch {
	case s.Container:
		return Held{What: fmt.Sprintf("it is a %s disk image", s.Name), Advice: convert}
	case strings.HasSuffix(s.Name, "_raid_member"):
		return Held{What: "it is a member of a RAID (" + strings.TrimSuffix(s.Name, "_raid_member") + ")",
			Advice: "give the device of the whole array"}
	}
	return Held{What: "it holds " + s.Name}
}
