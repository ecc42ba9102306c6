#!/bin/sh
# Makes minlog.txt: sh minlog.sh path/to/mkfs.xfs >minlog.txt
#
# The reference program names the least log of a filesystem when it is asked
# for a smaller one. -N writes nothing, so a sparse file will do; TMPDIR must
# allow one of 900 TiB (a tmpfs does).
set -eu
mkfs=$1
image=$(mktemp)
trap 'rm -f "$image"' EXIT
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1 # allow small filesystems

ask() { # size, options
	size=$1
	shift
	truncate -s 0 "$image"
	truncate -s "$size" "$image"
	min=$("$mkfs" -f -N -l size=2m "$@" "$image" 2>&1 | sed -n 's/.*minimum size is \([0-9]*\) blocks.*/\1/p')
	[ -z "$min" ] || echo "$min $size $*"
}

echo "# The least log, in blocks, that mkfs.xfs 7.2.0 names; the image's size; options."
echo "# Made by: sh minlog.sh path/to/mkfs.xfs >minlog.txt"
for size in 100M 300M 1G 20G 500G 3T 20T 900T; do
	ask $size
	ask $size -m rmapbt=0
	ask $size -m reflink=0
	ask $size -n parent=0
	ask $size -m crc=0
done
for b in 1024 2048 8192 16384 32768 65536; do
	ask 1G -b size=$b
	ask 40G -b size=$b -m rmapbt=0
	ask 40G -b size=$b -m reflink=0 -n parent=0
	ask 40G -b size=$b -m rmapbt=0,reflink=0 -n parent=0
	ask 40G -b size=$b -n size=65536
	ask 3T -b size=$b -n size=65536 -i nrext64=0
done
for b in 512 1024 2048 4096 16384 65536; do
	ask 1G -m crc=0 -b size=$b
	ask 40G -m crc=0 -b size=$b -n size=65536
	ask 3T -m crc=0 -b size=$b -n size=16384 -l version=1
done
for i in 512 1024 2048; do
	ask 2G -i size=$i
	ask 2G -i size=$i -m finobt=0
	ask 2G -i size=$i,sparse=0
	ask 2G -i size=$i -n parent=0,size=8192
	ask 2G -i size=$i -b size=8192 -m reflink=0
done
for i in 256 512 2048; do
	ask 2G -m crc=0 -i size=$i
	ask 2G -m crc=0 -i size=$i,align=0,attr=1
done
for n in 4096 8192 16384 32768 65536; do
	ask 2G -n size=$n
	ask 2G -n size=$n -m rmapbt=0,reflink=0,finobt=0,inobtcount=0 -n parent=0
	ask 2G -m crc=0 -n size=$n
done
for su in 4k 8k 12k 32k 64k 128k 256k; do
	ask 2G -d agcount=2 -l su=$su
	ask 2G -d agcount=2 -l su=$su -m rmapbt=0 -n parent=0
	ask 2G -d agcount=2 -l su=$su -m crc=0
done
for ag in 16m 17m 50m 200m 1g 16g; do
	ask 64G -d agsize=$ag
	ask 64G -d agsize=$ag -n parent=0
	ask 64G -d agsize=$ag -m reflink=0
	ask 64G -d agsize=$ag -m crc=0
done
ask 1T -d su=64k,sw=4
ask 1T -d su=64k,sw=4 -n parent=0
ask 1T -d su=1m,sw=2
ask 1T -d su=1m,sw=2 -m rmapbt=0
ask 2G -s size=4096
ask 2G -s size=4096 -m rmapbt=0 -n parent=0
ask 2G -s size=2048 -m crc=0
ask 2G -i nrext64=0,exchange=0 -n parent=0 -m bigtime=0,inobtcount=0
ask 2G -i nrext64=0 -n parent=0 -m reflink=0,rmapbt=0
