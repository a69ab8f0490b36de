#!/usr/bin/env bash
# Three processes read a system from files, each its share, and write x: the same bytes as one process with
# as many devices, and the same words where a file is bad.
#
#     files.sh KRYLITH MPIEXEC
set -eu
krylith=$1 launcher=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
    echo "$1"
    cat log
    exit 1
}
# What a solve by N processes says of the outcome, and x.
solve() {
    local processes=$1
    shift
    "$launcher" -n "$processes" "$krylith" solve "$@" --devices $((3 / processes)) --threads 1 >log 2>&1 || fail "no solution: $*"
    grep -E '^(matrix|solver|outcome|residual|  *auto)' log
}
compare() {
    local name=$1
    shift
    solve 1 "$@" --solution "one.$name" >one.txt
    solve 3 "$@" --solution "three.$name" >three.txt
    cmp "one.$name" "three.$name" || fail "another x: $*"
    diff one.txt three.txt || fail "another report: $*"
}
for matrix in a.kcsr a.mtx a.mtx.gz a.npz; do
    "$krylith" convert gallery:poisson3d:14:random=1 "$matrix" >log
    compare x.npy "$matrix" --rhs random:3
done
"$krylith" convert gallery:convection_diffusion:30:5 c.mtx >log
compare x.mtx c.mtx --rhs range:1
compare x.mtx.gz c.mtx --rhs row-sums --solver gmres --precond ilu0
compare y.txt a.kcsr --rhs one.x.npy
compare y.npy a.mtx --rhs one.x.npy --x0 one.y.txt --precond amg --solver cg
compare v.npy a.mtx --rhs ones --precond amg:block_size=7 --solver cg
cp one.x.mtx b.mtx
compare z.mtx c.mtx --rhs b.mtx --solver bicgstab

# What needs the whole matrix.
"$launcher" -n 3 "$krylith" solve c.mtx --report page.html >log 2>&1 || fail "no page"
grep -q '<svg' page.html || fail "no picture on the page"
"$launcher" -n 3 "$krylith" solve c.mtx --reorder rcm >log 2>&1 || fail "no order of rows"

# A bit in the middle of the second process' rows, and a bad line there.
cp a.kcsr bad.kcsr
printf '\001' | dd of=bad.kcsr bs=1 seek=120000 conv=notrunc 2>log
sed 's/^500 \([0-9]*\) .*/500 \1 x/' c.mtx >bad.mtx
for file in bad.kcsr bad.mtx; do
    status=0
    "$krylith" solve "$file" 2>one.txt >log || status=$?
    [ $status = 3 ] || fail "status $status of one process"
    "$launcher" -n 3 "$krylith" solve "$file" >log 2>&1 && fail "$file was taken"
    [ "$(grep -c "^krylith: process" log)" = 1 ] || fail "not said once"
    grep -qF "$(sed 's/^krylith: //' one.txt)" log || fail "other words: $(cat one.txt)"
done
