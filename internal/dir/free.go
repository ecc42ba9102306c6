package dir

// use takes n bytes at a place within a free space. scan tells that the longest free spaces
// are to be found anew, once there is something there. (xfs_dir2_data_use_free.)
func (k block) use(free, at, n int) (scan bool) {
	length := k.freeLength(free)
	i := k.find(free)
	_, third := k.best(bests - 1)
	front, back := free == at, free+length == at+n
	switch {
	case front && back:
		if i >= 0 && third == 0 {
			k.drop(i)
		}
		return i >= 0 && third != 0
	case front || back:
		rest := space{at + n, length - n}
		if back {
			rest = space{free, at - free}
		}
		k.setFree(rest.at, rest.n)
		if i < 0 {
			return false
		}
		k.drop(i)
		return k.enter(rest.at, rest.n) == bests-1 // there may be a longer one that was not listed
	}
	k.setFree(free, at-free)
	k.setFree(at+n, free+length-at-n)
	switch {
	case i < 0:
		return false
	case third != 0:
		return true
	}
	k.drop(i)
	k.enter(free, at-free)
	k.enter(at+n, free+length-at-n)
	return false
}

// release makes n bytes at a place free, as one with free space before and behind. scan is as of
// use. (xfs_dir2_data_make_free.)
func (k block) release(at, n int) (scan bool) {
	before, behind := -1, -1
	if at > k.header && k.isFree(k.before(at)) {
		before = k.before(at)
	}
	if at+n < k.end() && k.isFree(at+n) {
		behind = at + n
	}
	_, third := k.best(bests - 1)
	switch {
	case before >= 0 && behind >= 0:
		i, j := k.find(before), k.find(behind)
		k.setFree(before, k.freeLength(before)+n+k.freeLength(behind))
		if third != 0 || i < 0 || j < 0 {
			return true
		}
		k.drop(max(i, j))
		k.drop(min(i, j))
		k.enter(before, k.freeLength(before))
		return false
	case before < 0 && behind < 0:
		k.setFree(at, n)
		k.enter(at, n)
		return false
	}
	old, all := behind, space{at, n}
	if before >= 0 {
		old, all = before, space{before, n + k.freeLength(before)}
	} else {
		all.n += k.freeLength(behind)
	}
	i := k.find(old)
	k.setFree(all.at, all.n)
	if i < 0 {
		return all.n > third
	}
	k.drop(i)
	k.enter(all.at, all.n)
	return false
}
