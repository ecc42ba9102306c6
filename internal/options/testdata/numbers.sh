#!/bin/sh
# Makes numbers.txt: sh numbers.sh path/to/mkfs.xfs >numbers.txt
#
# Which numbers the reference program takes, and for what. A row is an option,
# what came of it, and the value in quotes.
set -eu
mkfs=$1
image=$(mktemp)
trap 'rm -f "$image"' EXIT
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1 # allow small filesystems
truncate -s 4G "$image"

ask() { # option, what to print of the geometry, value
	if out=$("$mkfs" -f -N ${1% *} "${1#* }=$3" "$image" 2>/dev/null); then
		got=$(echo "$out" | sed -n "$2" | head -1)
	else
		got=refused
	fi
	echo "$1 ${got:-nothing} '$3'"
}

echo "# What mkfs.xfs 7.2.0 makes of numbers: blocks of 4096 bytes, AGs, percent, or refused."
echo "# Made by: sh numbers.sh path/to/mkfs.xfs >numbers.txt"
for v in 1g 1G 1024m 1024M 1048576k 1073741824 0x40000000 0X40000000 0x400m 010000000000 010g 2097152s 2097152S \
	262144b 262144B 1gb 1g1 g '' ' 1g' '1g ' '1 g' +1g -1g --1g '+-1g' ++1g 1.5g 1,5g 1e9 1e 0e 0.5e 1p 4096m 4097m 5g 1t 0 0x 0xg 08g 09 0b1 0b262144 \
	18446744073709551615 18446744073709551616 99999999999999999999 9223372036854775807 9223372036854775808 \
	-9223372036854775808 -18446744073709551615 8e 16e 9007199254740992k 8388608t 17179869184s 4503599627370496b \
	1g$(printf '\t') "$(printf '\t')1g" 1d 1z 1K 16383k 16m 16777216 16777215 16777217 0x1gg 1kk 0x1k 0xffffffffffffffffff 1_000m １g ∞; do
	ask "-d size" 's/^data .*blocks=\([0-9]*\).*/\1/p' "$v"
done
for v in 1 2 02 0x2 4 010 08 -1 +3 0 2k 2b 2s 2.0 ' 2' '2 ' 4294967294 4294967295 4294967298 18446744073709551618 0x10 0b10 two ''; do
	ask "-d agcount" 's/.*agcount=\([0-9]*\).*/\1/p' "$v"
done
for v in 0 1 00 01 0x1 2 -0 +1 -1 '' true yes 1k 0k ' 1' '1 ' 4294967296 18446744073709551616; do
	ask "-m reflink" 's/.*reflink=\([0-9]*\).*/\1/p' "$v"
	ask "-i sparse" 's/.*sparse=\([0-9]*\).*/\1/p' "$v"
done
for v in 4096 4k 4K 0x1000 010000 8s 8b 1b 4096s 3000 1000 -4096 64k 65537 128k 0 '' k; do
	ask "-b size" 's/.*bsize=\([0-9]*\).*/\1/p' "$v"
	ask "-n size" 's/^naming .*bsize=\([0-9]*\).*/\1/p' "$v"
	ask "-s size" 's/.*sectsz=\([0-9]*\).*/\1/p' "$v"
	ask "-i size" 's/.*isize=\([0-9]*\).*/\1/p' "$v"
	ask "-l su" '/^log /{n;s/.*sunit=\([0-9]*\).*/\1/p}' "$v"
done
for v in 0 25 100 101 -1 25% 0x19 ''; do
	ask "-i maxpct" 's/.*imaxpct=\([0-9]*\).*/\1/p' "$v"
done
for v in 0 2 3 NR_CPUS nr_cpu 4k -1 64 2147483647 2147483648; do
	ask "-d concurrency" 's/.*agcount=\([0-9]*\).*/\1/p' "$v"
done
