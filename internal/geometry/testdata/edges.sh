#!/bin/sh
# Makes edges.txt: sh edges.sh path/to/mkfs.xfs >edges.txt
#
# What the reference program plans where its rules change. -N writes nothing,
# so a sparse file will do; TMPDIR must allow one of 8 EiB (a tmpfs does).
set -eu
mkfs=$1
image=$(mktemp)
trap 'rm -f "$image"' EXIT
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1 # allow small filesystems

field() { # name: its value in the geometry's table, the first there is
	echo "$out" | tr '=, ' '\n' | awk -v n="$1" 'seen && NF {print; exit} $0 == n {seen = 1}'
}

ask() { # size, options
	size=$1
	shift
	truncate -s 0 "$image"
	truncate -s "$size" "$image"
	if out=$("$mkfs" -f -N "$@" "$image" 2>/dev/null); then
		out=$(echo "$out" | grep -A9 meta-data)
		log=$(echo "$out" | sed -n 's/^log .*blocks=\([0-9]*\).*/\1/p')
		logsu=$(echo "$out" | sed -n '/^log /{n;s/.*sunit=\([0-9]*\).*/\1/p}')
		su=$(echo "$out" | sed -n '/^data /{n;s/.*sunit=\([0-9]*\) *swidth=\([0-9]*\).*/\1,\2/p}')
		echo "$(field agcount) $(field agsize) $(echo "$out" | sed -n 's/^data .*blocks=\([0-9]*\).*/\1/p') $(field imaxpct) $(field sectsz) $su $log $logsu $size $*"
	else
		echo "refused $size $*"
	fi
}

echo "# What mkfs.xfs 7.2.0 plans: agcount agsize blocks imaxpct sectsz sunit,swidth log logsunit; the image's size; options."
echo "# Made by: sh edges.sh path/to/mkfs.xfs >edges.txt"
for size in 16777215 16M 17M 31M 32M 33M 47M 48M 63M 64M 65M 127M 128M 129M 255M 299M 300M 301M \
	314573323 512M 1023M 1G 8191M 8G 8193M 511G 512G 513G 1048575M 1T 2T 4194303M 4T 4194305M 5T 15T 16T 17T 31T 32T 33T \
	49T 50T 51T 100T 1P 100P 1E 7E 9223372036854775295 9223372036854775807; do
	ask $size
	case $size in 9*) continue ;; esac
	ask $size -d su=64k,sw=4
done
for b in 512 1024 2048 8192 16384 32768 65536; do
	for size in 16M 40M 300M 10G 3T 5T 100T 9223372036854775807; do
		ask $size -b size=$b -m crc=0
		[ $b = 512 ] || ask $size -b size=$b
	done
done
for s in 512 1024 2048 4096 8192 32768 65536; do
	ask 1G -s size=$s
	ask 1G -b size=65536 -s size=$s
	ask 1G -b size=32768 -s size=$s -m crc=0
done
for n in 1 2 3 5 7 8 9 18 19 20 64 65; do
	ask 300M -d agcount=$n
	ask 1G -d agcount=$n
	ask 1G -d agcount=$n,su=64k,sw=4
	ask 1G -l agnum=0 -d agcount=$n
done
for size in 64M 65M 79M 80M 81M 95M 96M 97M 112M; do
	ask $size -d agsize=16m
	ask $size -d agsize=17m
	ask $size -d agsize=16777216b
	ask $size -d agsize=32m
done
for n in 0 1 2 3 4 5; do
	ask 10G -l agnum=$n
	ask 10G -l agnum=$n,size=2038m
	ask 300M -l agnum=$n
	ask 10G -l agnum=$n -d su=128k,sw=3
done
for log in 2m 7m 8m 8200k 63m 64m 65m 70m 100m 1g 2038m 2039m 2001b 2000b 16384b 521728b 521729b; do
	ask 300M -l size=$log
	ask 20G -l size=$log
done
for su in 4k 16k 64k 256k 512k 1m 16m 500m; do
	for sw in 1 2 3 16; do
		ask 100M -d su=$su,sw=$sw
		ask 1G -d su=$su,sw=$sw
		ask 20G -d su=$su,sw=$sw
		ask 600G -d su=$su,sw=$sw
	done
done
for i in 256 512 1024 2048; do
	ask 1G -i size=$i
	ask 1G -i size=$i -b size=1024
	ask 1G -i size=$i -b size=65536
	ask 1G -i size=$i -m crc=0 -b size=512
done
for c in 0 2 4 5 16 17 100 1000; do
	ask 1G -d concurrency=$c
	ask 100G -d concurrency=$c
	ask 10T -d concurrency=$c
	ask 100G -l concurrency=$c
done
for p in 0 1 25 50 100 101; do
	ask 1G -i maxpct=$p
	ask 100T -i maxpct=$p
done
for size in 1023G 1T 1025G 49T 50T 51T; do
	ask $size -d agsize=512g
	ask $size -b size=1024 -d agcount=128
done
for size in 100m 300m 1g 1000000s 100000b 1g1 0 16m 15m 300001k 314573323; do
	ask 2G -d size=$size
done
