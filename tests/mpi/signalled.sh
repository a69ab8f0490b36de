#!/usr/bin/env bash
# Three processes solve, and one of them gets a signal: the others must end by themselves, with status 5 and
# words, soon after the time-out of 2 s. The launcher is told not to end them.
#
#     signalled.sh KILL|STOP KRYLITH MPIEXEC TRANSPORT
set -u
signal=$1 krylith=$2 launcher=$3 transport=$4
folder=$(mktemp -d)
trap 'kill -KILL $(cat "$folder"/pid.*) 2>/dev/null; rm -rf "$folder"' EXIT
case $("$launcher" --version) in
*Open*) lets_live=(-mca orte_enable_recovery 1) ;;
*) lets_live=(-disable-auto-cleanup) ;;
esac
cat >"$folder/one.sh" <<SCRIPT
trap '' USR1 # MPICH's launcher sends it where one has died
"$krylith" solve gallery:poisson3d:100 --solver cg --precond none --rtol 1e-30 --max-iterations 1000000 \\
    --timeout 2 --transport $transport --monitor >"$folder/out.\$\$" 2>"$folder/err.\$\$" &
echo \$! >"$folder/pid.\$\$"
wait \$!
echo \$? >"$folder/status.\$\$"
SCRIPT
"$launcher" "${lets_live[@]}" -n 3 bash "$folder/one.sh" >"$folder/launcher.log" 2>&1 &

count() { find "$folder" -name "$1" -size +0 | wc -l; }
fail() {
    echo "$1"
    cat "$folder"/launcher.log "$folder"/err.*
    exit 1
}
for ((k = 0; k < 200; ++k)); do # until iterations are printed
    grep -qs "^ *20 " "$folder"/out.* && break
    sleep 0.1
done
((k < 200)) || fail "the solve has not begun"
victim=$(cat "$(find "$folder" -name 'pid.*' | sort | tail -1)")
kill -"$signal" "$victim"
expected=2
[ "$signal" = KILL ] && expected=3
for ((k = 0; k < 150; ++k)); do
    (($(count 'status.*') == expected)) && break
    sleep 0.1
done
((k < 150)) || fail "not all others have ended"
[ "$(grep -lx 5 "$folder"/status.* | wc -l)" = 2 ] || fail "the others have not both ended with status 5"
[ "$(grep -l 'did not answer within' "$folder"/err.* | wc -l)" = 2 ] || fail "the others don't both say why"
