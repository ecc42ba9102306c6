package compat

import "testing"

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"5.15": "5.15", "6.1.0-13-amd64": "6.1", "2.06": "2.6", "2.12~rc1": "2.12", "4.19.0": "4.19", "6.18-rc2": "6.18",
		"": "", "5": "", "x.y": "", "5.": "", "-1.2": "", "5.x": "", ".5": "", "99999999999999999999.1": "",
	} {
		v, err := ParseVersion(text)
		if got := v.String(); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%q is %v, %v; want %q", text, v, err, want)
		}
	}
}

// What each preset sets.
func TestPresets(t *testing.T) {
	const none512 = "-i exchange=0 -n parent=0 -m autofsck=0,metadir=0"
	for name, want := range map[string]string{
		"lts-4.19":  "-m rmapbt=0,reflink=0,inobtcount=0,bigtime=0 -i nrext64=0,exchange=0 -n parent=0 -m autofsck=0,metadir=0",
		"lts-5.4":   "-m rmapbt=0,inobtcount=0,bigtime=0 -i nrext64=0,exchange=0 -n parent=0 -m autofsck=0,metadir=0",
		"lts-5.10":  "-m rmapbt=0,inobtcount=0,bigtime=0 -i nrext64=0,exchange=0 -n parent=0 -m autofsck=0,metadir=0",
		"lts-5.15":  "-m rmapbt=0 -i nrext64=0,exchange=0 -n parent=0 -m autofsck=0,metadir=0",
		"lts-6.1":   "-m rmapbt=0 -i nrext64=0,exchange=0 -n parent=0 -m autofsck=0,metadir=0",
		"lts-6.6":   none512,
		"lts-6.12":  none512,
		"lts-6.18":  "-m metadir=0",
		"grub-2.06": "-i nrext64=0,exchange=0 -n parent=0 -m metadir=0",
		"grub-2.12": "-i nrext64=0,exchange=0 -n parent=0 -m metadir=0",
		"dax":       "-b size=4096 -d su=2m,sw=1,extszinherit=512,daxinherit=1 -r extsize=2m",
	} {
		p, err := Find(name)
		if got := Text(p.Settings); err != nil || got != want {
			t.Errorf("%s sets %s (%v)\n want %s", name, got, err, want)
		}
	}
	if len(Presets()) != 11 {
		t.Errorf("there are %d presets", len(Presets()))
	}
}

// A feature is mountable no later than it is a default.
func TestFeatures(t *testing.T) {
	for _, f := range Features {
		if f.Default.Before(f.Mounts) {
			t.Errorf("%s is a default for %v and mountable from %v", f.Name, f.Default, f.Mounts)
		}
	}
}
