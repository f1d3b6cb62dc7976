#!/usr/bin/env bash
# One generator thread or two? Alternating runs of the same load, and the median of requests a second and of p99, for the
# rule in crates/drive/src/engine.rs (SLOTS_A_THREAD).
#
#   benches/threads.sh FILE       FILE is overwritten; made with 2 GiB where it is missing
#   ROUNDS=5 SECONDS_EACH=2 THREADS="1 4 16 64" MODES="rndrd rndwr" benches/threads.sh FILE
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?which file may be overwritten?}
file=$(realpath -m "$file")
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2}
point=${CARGO_TARGET_DIR:-target}/dist/examples/drive_point
cargo build --quiet --profile dist --package drive --example drive_point
[ -e "$file" ] || "$point" "$file" --create 2g --seconds 0.1 >/dev/null

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

printf '%-6s %7s %12s %12s %7s %10s %10s\n' mode threads '1: IOPS' '2: IOPS' '2/1' '1: p99 us' '2: p99 us'
for mode in ${MODES:-rndrd rndwr}; do
    for threads in ${THREADS:-1 4 16 64}; do
        declare -A iops=() p99=()
        for ((i = 0; i < rounds; i++)); do
            for generators in 1 2; do
                result=$("$point" "$file" --mode "$mode" --threads "$threads" --seconds "$seconds" --generators $generators --json)
                iops[$generators]+=$(jq '.read.iops + .write.iops' <<<"$result")$'\n'
                p99[$generators]+=$(jq '[.read, .write] | map(.lat_ns.percentile["99.000000"] // 0) | max / 1000' <<<"$result")$'\n'
            done
        done
        one=$(printf %s "${iops[1]}" | median) two=$(printf %s "${iops[2]}" | median)
        printf '%-6s %7d %12.0f %12.0f %7.2f %10.0f %10.0f\n' "$mode" "$threads" "$one" "$two" \
            "$(awk "BEGIN { print $two / $one }")" "$(printf %s "${p99[1]}" | median)" "$(printf %s "${p99[2]}" | median)"
    done
done
