#!/usr/bin/env bash
# Four processes must each need less than 1.3 times a quarter of the memory that one needs for the same
# system, whether it is assembled by own rows or read from a file. What processes need for nothing is
# subtracted.
#
#     memory.sh MEMORY_TESTS KRYLITH MPIEXEC
set -eu
program=$1 krylith=$2 launcher=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
points=110
"$krylith" convert gallery:poisson3d:$points "$folder/system.kcsr" >"$folder/log"
"$krylith" convert gallery:poisson1d:1 "$folder/nothing.kcsr" >>"$folder/log"

# The most KiB of any process.
most() { "$launcher" -n "$1" "$program" "${@:2}" | sort -n | tail -1; }
status=0
check() { # WHAT, its arguments, those of nothing
    local one nothing four apart
    one=$(most 1 $2)
    nothing=$(most 1 $3)
    four=$(most 4 $2)
    apart=$(most 4 $3)
    echo "$1: one process $((one - nothing)) KiB, each of four $((four - apart))"
    if ((40 * (four - apart) >= 13 * (one - nothing))); then
        echo "that is more than 1.3 times a quarter"
        status=1
    fi
}
check "own rows" "slabs $points" "slabs 1"
check "a file" "$folder/system.kcsr" "$folder/nothing.kcsr"
exit $status
