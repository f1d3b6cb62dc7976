#!/usr/bin/env bash
# Power cuts under a PostgreSQL that commits: on a card with capacitors, on one without, and on one that lies about flushes.
#
#   benches/postgres-cuts.sh FOLDER [FLASHRIG]   needs root and PostgreSQL; FOLDER is made, and keeps results and logs
#   CYCLES=25 on each honest card, LIES=10 on the other
#
# Exit code 1 when an honest card loses anything, or the other is caught in less than nine of ten cuts.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 flashrig=$(realpath "${2:-target/dist/flashrig}")
cycles=${CYCLES:-25} lies=${LIES:-10}
command -v jq >/dev/null || { echo "jq is missing: apt-get install jq" >&2; exit 2; }
mkdir "$folder"
cd "$folder"
# NAME CYCLES [SETTING ...]
cut() {
    local name=$1 count=$2
    shift 2
    "$flashrig" review tachion-400 --database postgres --size 1g --db-size 64m --parts crash --cycles "$count" "$@" --out "$name"
}
cut capacitors "$cycles"
cut no-capacitors "$cycles" --set card.power_loss_protection=false
# One cycle each: a database that has lost something is not the one to cut again.
for ((i = 1; i <= lies; i++)); do
    cut "lies-$i" 1 --set card.power_loss_protection=false --set card.acknowledge_flush_early=true --seed "$i" >"lies-$i.txt" 2>"lies-$i.err"
    jq -r '.database.crash | if .passed then "not caught" else "caught: " + .verdict end' "lies-$i.json"
done
honest=$(jq -s 'map(.database.crash) | all(.passed)' capacitors.json no-capacitors.json)
jq -rs 'map(.database.crash.cycles[]) | "honest: \(length) cuts, \(map(.acknowledged) | add) transactions, \(map(.lost) | add) lost"' \
    capacitors.json no-capacitors.json
caught=$(jq -s 'map(select(.database.crash.passed | not)) | length' lies-*.json)
echo "lies: $caught of $lies caught"
[ "$honest" = true ] && [ $((caught * 10)) -ge $((lies * 9)) ]
