#!/usr/bin/env bash
# PostgreSQL 80/20 on a card whose modules are sixteen files, and on the file system that these files lie in, by turns; the
# same settings of the cluster, the same clients.
#
#   benches/postgres-array.sh FOLDER [FLASHRIG]   needs root and PostgreSQL; FOLDER is made, and keeps the reviews
#   DB_MIB=1024 SIZE_MIB=8192 SHARDS=1 SESSIONS=1,8,32 POINT=10s RUNS=3
#
# An eighth of the data lies in PostgreSQL's buffers. The card is served over NBD or FUSE, as `flashrig attach` finds it
# best, and has a file system of its own.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 flashrig=$(realpath "${2:-target/dist/flashrig}")
db_mib=${DB_MIB:-1024} size_mib=${SIZE_MIB:-8192} shards=${SHARDS:-1} runs=${RUNS:-3}
sessions=${SESSIONS:-1,8,32} point=${POINT:-10s}
command -v jq >/dev/null || { echo "jq is missing: apt-get install jq" >&2; exit 2; }
mkdir "$folder"
cd "$folder"
trap 'rm -rf card raw' EXIT
"$flashrig" create card --card drive-array-16 --size "${size_mib}MiB" --shards "$shards" >/dev/null
mkdir raw
review() {
    "$flashrig" review "$1" --database postgres --tables --parts mix --sessions "$sessions" --point "$point" \
        --db-size "${db_mib}m" --shared-buffers "$((db_mib / 8))m" --out "$1-$2" >/dev/null
}
for run in $(seq "$runs"); do
    review card "$run"
    review raw "$run"
done
echo "transactions a second, medians of $runs runs"
printf '%8s %10s %10s %8s\n' sessions card "file system" share
for at in $(seq 0 $(($(tr -cd , <<<"$sessions" | wc -c)))); do
    median() { jq -s "[.[].database.mix.points[$at].tps] | sort | .[length / 2 | floor]" "$1"-*.json; }
    count=$(cut -d, -f$((at + 1)) <<<"$sessions")
    printf '%8s %10.0f %10.0f %7.0f%%\n' "$count" "$(median card)" "$(median raw)" \
        "$(jq -n "100 * $(median card) / $(median raw)")"
done
