#!/usr/bin/env bash
# The twin of this machine's own disk: a file on it is reviewed, a card and a host are fitted to the review, and the card
# predicts five conditions that were held back, which fio measures. Prints what fit says, then predicted against measured.
#
#   benches/own-disk.sh FOLDER [FLASHRIG]      needs fio, jq, and a file system with direct I/O
#   SIZE=4g BUDGET=5m SECONDS_EACH=15 ROUNDS=3
#
# FOLDER is made and kept; what was measured in it is not measured again.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
flashrig=$(realpath "${2:-target/dist/flashrig}")
size=${SIZE:-4g} budget=${BUDGET:-5m} seconds=${SECONDS_EACH:-15} rounds=${ROUNDS:-3}
for tool in fio jq; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install fio jq" >&2; exit 2; }
done
mkdir -p "$1"
cd "$1"
trap 'rm -f disk' EXIT

# LOAD BLOCK THREADS READ_PERCENT
held_back='rndrd 16k 12 100
rndwr 16k 24 0
rndrw 16k 6 50
rndrd 32k 24 100
rndwr 64k 3 0'

# What fio measures of one condition: MB/s and the 99th percentiles of reads and writes in µs, a line for each round.
measure() {
    local mode=randrw
    case $1 in rndrd) mode=randread ;; rndwr) mode=randwrite ;; esac
    for ((round = 0; round < rounds; round++)); do
        fio --output-format=json --name=held --filename=disk --size="$size" --direct=1 --ioengine=psync --thread \
            --numjobs="$3" --group_reporting --rw=$mode --rwmixread="$4" --bs="$2" --norandommap --randrepeat=0 \
            --time_based --ramp_time=2 --runtime="$seconds" | sed -n '/^{/,$p' |
            jq -r 'def p99: (.clat_ns.percentile["99.000000"] // 0) / 1e3;
                .jobs[0] | [(.read.bw_bytes + .write.bw_bytes) / 1e6, (.read | p99), (.write | p99)] | @tsv'
    done
}
if ! [ -e review.json ] || ! [ -e measured-5 ]; then
    "$flashrig" review ./disk --size "$size" --keep --only threads,blocks,mix --budget "$budget" --out review --overwrite >review.txt
    number=0
    while read -r load block threads reads; do
        number=$((number + 1))
        measure "$load" "$block" "$threads" "$reads" </dev/null >measured
        mv measured "measured-$number"
    done <<<"$held_back"
fi
"$flashrig" fit review.json -o ./twin.toml --host-out ./host.toml --force --overwrite || [ $? = 1 ]

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
number=0
{
    printf 'held back\tpredicted\tmeasured\terror %%\n'
    while read -r load block threads reads; do
        number=$((number + 1))
        mix=()
        [ "$load" != rndrw ] || mix=(--rw-ratio "$(jq -n --argjson reads "$reads" '$reads / (100 - $reads)')")
        "$flashrig" run ./twin.toml --host ./host.toml --load "$load" --block "$block" --threads "$threads" \
            "${mix[@]}" --json - </dev/null |
            jq -r --arg name "$load $block, $threads threads" --argjson mb "$(cut -f1 "measured-$number" | median)" \
                --argjson r "$(cut -f2 "measured-$number" | median)" --argjson w "$(cut -f3 "measured-$number" | median)" '
                def p99: (.lat_ns.percentile["99.000000"] // 0) / 1e3;
                def row(what; p; m): select(m > 0) | [what, (p | round), (m | round), ((p / m - 1) * 100 | round)];
                row("\($name): MB/s"; ((.read.bw_bytes // 0) + (.write.bw_bytes // 0)) / 1e6; $mb),
                row("\($name): read p99 us"; .read | p99; $r), row("\($name): write p99 us"; .write | p99; $w) | @tsv'
    done <<<"$held_back"
} | column -t -s $'\t'
