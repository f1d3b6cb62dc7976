#!/usr/bin/env bash
# Flashrig's engine against fio's io_uring engine and against sysbench, on the same file, in alternating runs.
#
#   benches/against-fio.sh FILE   FILE must be named test_file.0 (sysbench's name); it is overwritten, and made with 2 GiB
#                                 where it is missing
#   ROUNDS=5 SECONDS_EACH=5 BLOCK=4k THREADS="1 4 16 64" MODES="rndrd rndwr rndrw seqrd" benches/against-fio.sh FILE
#
# Figures are medians of ROUNDS; ratios are medians of the rounds' own ratios, whose runs follow each other within seconds,
# so that a neighbour who comes and goes harms them less. The order of the tools rotates. p99 counts from asking to completion, in microseconds; of reads where there are reads.
# All three: direct I/O, no flushes, one request outstanding for each thread, 60 % reads in rndrw.
# Where they can't be the same:
# - fio's sequential readers have a range each; flashrig's and sysbench's share one position;
# - sysbench has a thread of the operating system and a system call for each request.
# `limit` counts flashrig's runs that it marked itself as limited by the host.
set -euo pipefail
cd "$(dirname "$0")/.."
file=$(realpath -m "${1:?which test_file.0 may be overwritten?}")
[ "$(basename "$file")" = test_file.0 ] || { echo "$file: must be called test_file.0, as sysbench calls it" >&2; exit 2; }
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-5} block=${BLOCK:-4k}
for tool in fio sysbench jq; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install $tool" >&2; exit 2; }
done
point=${CARGO_TARGET_DIR:-target}/dist/examples/drive_point
point=$(realpath -m "$point")
cargo build --quiet --profile dist --package drive --example drive_point
[ -e "$file" ] || "$point" "$file" --create 2g --seconds 0.1 >/dev/null
bytes=$(stat -c %s "$file")
cd "$(dirname "$file")"

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Each prints: requests a second, p99 in microseconds, why it was limited by the host.
run_flashrig() {
    "$point" "$file" --mode "$1" --threads "$2" --block "$block" --seconds "$seconds" --json |
        jq -r '[.read.iops + .write.iops,
                (if .read.total_ios > 0 then .read else .write end).lat_ns.percentile["99.000000"] / 1000,
                .generator.limit] | @tsv'
}
# The time of a run over $1, for fio, which takes no fractions of a second.
milliseconds() { awk "BEGIN { printf \"%d\", $seconds * 1000 / $1 }"; }
run_fio() {
    local rw size=$bytes increment=0
    case $1 in
        rndrd) rw=randread ;; rndwr) rw=randwrite ;; rndrw) rw="randrw --rwmixread=60" ;;
        seqrd) rw=read increment=$((bytes / $2 / 1048576 * 1048576)) size=$increment ;;
    esac
    # shellcheck disable=SC2086
    fio --name=against --filename="$file" --rw=$rw --bs="$block" --ioengine=io_uring --direct=1 --registerfiles \
        --fixedbufs --numjobs="$2" --iodepth=1 --thread --norandommap --randrepeat=0 --time_based \
        --runtime="$(milliseconds 1)ms" --ramp_time="$(milliseconds 10)ms" --size="$size" \
        --offset_increment="$increment" --group_reporting --lat_percentiles=1 --clat_percentiles=0 \
        --output-format=json |
        jq -r '.jobs[0] | [.read.iops + .write.iops,
                (if .read.total_ios > 0 then .read else .write end).lat_ns.percentile["99.000000"] / 1000] | @tsv'
}
run_sysbench() {
    # Its own time counts from the start of its threads; it reports the whole of it.
    sysbench fileio --file-num=1 --file-total-size="$bytes" --file-test-mode="$1" --file-block-size="${block^^}" \
        --file-io-mode=sync --file-extra-flags=direct --file-fsync-freq=0 --file-fsync-end=off --threads="$2" \
        --time="$(awk "BEGIN { s = int($seconds); print s < 1 ? 1 : s }")" --percentile=99 --rand-type=uniform run |
        awk '/reads\/s:/ || /writes\/s:/ { iops += $2 } /99th percentile:/ { p99 = $3 * 1000 } END { print iops "\t" p99 }'
}

printf '%-6s %7s | %9s %9s %9s | %7s %7s | %8s %8s %8s | %7s | %s\n' mode threads flashrig fio sysbench '/fio' \
    '/sysb' 'p99' 'fio' 'sysb' 'p99/fio' limit
rows=0 near_fio=0 near_sysbench=0 not_below=0 tail_not_worse=0
for mode in ${MODES:-rndrd rndwr rndrw seqrd}; do
    for threads in ${THREADS:-1 4 16 64}; do
        declare -A iops=() p99=()
        limited=0
        for ((i = 0; i < rounds; i++)); do
            tools=(flashrig fio sysbench flashrig fio)
            for tool in "${tools[@]:i % 3:3}"; do
                IFS=$'\t' read -r rate tail limit < <(run_$tool "$mode" "$threads")
                iops[$tool]+=$rate$'\n'
                p99[$tool]+=$tail$'\n'
                if [ -n "${limit:-}" ]; then limited=$((limited + 1)); fi
            done
        done
        # $1: figures of flashrig, $2: of the other, a line each.
        ratio() { paste <(printf %s "$1") <(printf %s "$2") | awk '{ print $1 / ($2 + 1e-9) }' | median; }
        to_fio=$(ratio "${iops[flashrig]}" "${iops[fio]}") to_sysbench=$(ratio "${iops[flashrig]}" "${iops[sysbench]}")
        tail=$(ratio "${p99[flashrig]}" "${p99[fio]}")
        for tool in flashrig fio sysbench; do
            iops[$tool]=$(printf %s "${iops[$tool]}" | median)
            p99[$tool]=$(printf %s "${p99[$tool]}" | median)
        done
        within() { awk "BEGIN { exit !($1 >= $2 && $1 <= $3) }"; }
        printf '%-6s %7d | %9.0f %9.0f %9.0f | %7.2f %7.2f | %8.0f %8.0f %8.0f | %7.2f | %s\n' "$mode" "$threads" \
            "${iops[flashrig]}" "${iops[fio]}" "${iops[sysbench]}" "$to_fio" "$to_sysbench" \
            "${p99[flashrig]}" "${p99[fio]}" "${p99[sysbench]}" "$tail" "$limited of $rounds"
        rows=$((rows + 1))
        if within "$to_fio" 0.9 1.1; then near_fio=$((near_fio + 1)); fi
        if within "$to_sysbench" 0.9 1.1; then near_sysbench=$((near_sysbench + 1)); fi
        if within "$to_fio" 0.97 1e9; then not_below=$((not_below + 1)); fi
        if within "$tail" 0 1.05; then tail_not_worse=$((tail_not_worse + 1)); fi
    done
done
echo "$rows rows: within 10 % of fio $near_fio, of sysbench $near_sysbench;" \
    "IOPS not below fio's (by more than 3 %) $not_below, p99 not worse than fio's (by more than 5 %) $tail_not_worse"
