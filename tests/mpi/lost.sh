#!/usr/bin/env bash
# Three processes make a system and solve it, and at a random moment one of them is killed, is stopped or has no
# more memory. The others must end by themselves within the time-out of 2 s and a second, each with status 5
# (4 where its own memory ends) and words. The launcher is told not to end them. Says what became of the rounds;
# what had ended before, or needed no more memory, doesn't count.
#
#     lost.sh ROUNDS KRYLITH MPIEXEC
set -u
rounds=$1 krylith=$2 launcher=$3
folder=$(mktemp -d)
end_all() { kill -KILL $(cat "$folder"/pid.* 2>/dev/null) 2>/dev/null; }
trap 'end_all; rm -rf "$folder"' EXIT
case $("$launcher" --version) in
*Open*) lets_live=(-mca orte_enable_recovery 1) ;;
*) lets_live=(-disable-auto-cleanup) ;;
esac
cat >"$folder/one.sh" <<SCRIPT
trap '' USR1 # MPICH's launcher sends it where one has died
folder="$folder"
number=\$(mkdir "\$folder/first" 2>/dev/null && echo first || echo other.\$\$)
"$krylith" solve gallery:poisson3d:\$1 --solver cg --precond \$2 --rtol 1e-30 --max-iterations 1000000 \\
    --timeout 2 --transport \$3 --threads 1 >"\$folder/out.\$number" 2>"\$folder/err.\$number" &
echo \$! >"\$folder/pid.\$number"
wait \$!
echo "\$? \$(date +%s.%N)" >"\$folder/status.\$number"
SCRIPT

count() { find "$folder" -name "$1" -size +0 | wc -l; }
# Waits until so many processes have ended, or in vain.
wait_for() {
    local k
    for ((k = 0; k < $2; ++k)); do
        (($(count 'status.*') >= $1)) && return 0
        sleep 0.1
    done
    return 1
}
# Whether each process has loaded its link: MPI_Init has no time-out.
linked() {
    local file all=0
    for file in "$folder"/pid.*; do
        grep -qs libkrylith_link "/proc/$(cat "$file")/maps" && ((++all))
    done
    ((all == 3))
}
RANDOM=${SEED:-$$}
echo "seed ${SEED:-$$}"
failed=0 slowest=0
declare -A seen=()
for ((round = 0, tries = 0; round < rounds && tries < 5 * rounds; ++tries)); do
    find "$folder" -mindepth 1 ! -name one.sh -exec rm -rf {} + 2>/dev/null
    kind=$(printf '%s\n' KILL STOP memory | sed -n $((RANDOM % 3 + 1))p)
    transport=$(printf '%s\n' auto posted | sed -n $((RANDOM % 2 + 1))p)
    precond=$(printf '%s\n' none amg | sed -n $((RANDOM % 2 + 1))p)
    "$launcher" "${lets_live[@]}" -n 3 bash "$folder/one.sh" 90 $precond $transport >"$folder/launcher.log" 2>&1 &
    for ((k = 0; k < 100; ++k)); do
        (($(count 'pid.*') == 3)) && { linked || (($(count 'status.*') > 0)); } && break
        sleep 0.1
    done
    what="$kind, $transport, $precond"
    if (($(count 'pid.*') < 3)); then
        echo "the processes have not begun"
        cat "$folder/launcher.log"
        exit 1
    fi
    begin=$(date +%s.%N)
    others=3
    sleep "$(awk -v r=$RANDOM -v most=$([ $kind = memory ] && echo 1 || echo 2.5) 'BEGIN { print 0.2 + r / 32768 * most }')"
    if (($(count 'status.*') > 0)); then # the solve was over
        end_all
        wait
        continue
    fi
    begin=$(date +%s.%N)
    victim=$(cat "$folder/pid.first")
    if [ $kind = memory ]; then # no more than it has now
        prlimit --pid "$victim" --as=$(($(awk '$1 == "VmSize:" { print $2 }' "/proc/$victim/status") * 1024))
        # It needed no more, and goes on, or has ended as those that don't converge.
        if ! wait_for 1 50 || grep -qs '^1 ' "$folder/status.first"; then
            end_all
            wait
            continue
        fi
        begin=$(sort -k 2 "$folder"/status.* | head -1)
        begin=${begin#* }
    else
        kill -"$kind" "$victim"
        [ $kind = STOP ] && others=2
    fi
    why=
    round=$((round + 1))
    wait_for $others 100 || why="not all have ended after 10 s"
    last=$(cat "$folder"/status.* | awk -v b="$begin" '$2 - b > most { most = $2 - b } END { printf "%.2f", most }')
    awk -v l="$last" 'BEGIN { exit !(l > 3) }' && why="$why; the last ended after $last s"
    [ $kind != memory ] || grep -qs '^[45] ' "$folder/status.first" ||
        why="$why; status $(cat "$folder/status.first") of the process without memory"
    for file in "$folder"/status.other.*; do
        read -r status _ <"$file"
        [ "$status" = 5 ] || [ "$status" = 4 ] || why="$why; status $status of another process"
        [ $kind = memory ] || grep -qs krylith: "${file/status/err}" || why="$why; another process says nothing"
    done
    grep -qs krylith: "$folder"/err.* || why="$why; nobody says anything"
    end_all
    wait
    awk -v l="$last" -v s="$slowest" 'BEGIN { exit !(l > s) }' && slowest=$last
    seen[$kind]=$((${seen[$kind]:-0} + 1))
    [ -z "$why" ] && continue
    failed=$((failed + 1))
    echo "round $round ($what): ${why#; }"
    cat "$folder"/launcher.log "$folder"/err.*
    cat "$folder"/status.*
done
echo "$((round - failed)) of $round rounds ended as they must, the slowest after $slowest s"
for kind in "${!seen[@]}"; do echo "    $kind: ${seen[$kind]}"; done
((failed == 0 && round == rounds))
