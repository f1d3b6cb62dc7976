#!/usr/bin/env bash
# A card in memory through FUSE and a loop device, against nbdfuse (libnbd's) on nbdkit's memory plugin and a loop device.
#
#   benches/fuse-against-nbdfuse.sh              needs root, fio, jq, nbdfuse, nbdkit; builds the release
#   FUSE_CARD=PROGRAM ...                        another build of crates/attach/examples/fuse_card.rs
#   ROUNDS=5 SECONDS_EACH=2 BLOCKS="4k 16k" DEPTHS="1 16" MODES="randread randwrite" ENGINES="io_uring libaio"
#   THREADS=2                                    of ours, in place of the default
#   ON=file                                      the files themselves, without loop devices
#
# Runs alternate, and who begins rotates: a neighbour who comes and goes harms them less. Figures are medians of ROUNDS;
# ratios are medians of the rounds' own ratios. p99 is the completion latency in microseconds. Both are filled before.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2} mib=${MIB:-1024}
[ "$(id -u)" = 0 ] || { echo "loop devices need root" >&2; exit 2; }
for tool in fio jq nbdfuse nbdkit losetup; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install fio jq libnbd-bin nbdkit" >&2; exit 2; }
done
card=${FUSE_CARD:-}
if [ -z "$card" ]; then
    cargo build --quiet --profile dist --locked --package attach --example fuse_card
    card=${CARGO_TARGET_DIR:-target}/dist/examples/fuse_card
fi
card=$(realpath "$card")
folder=$(mktemp -d)
mkdir "$folder/ours" "$folder/theirs"
declare -A device=()
end() {
    if [ "${ON:-loop}" = loop ]; then
        for each in "${device[@]}"; do losetup --detach "$each" || true; done
    fi
    exec 9>&- || true
    umount "$folder/theirs" 2>/dev/null || true
    wait || true
    rm -rf "$folder"
}
trap end EXIT

mkfifo "$folder/input"
# shellcheck disable=SC2086 # no words where there are none
"$card" "$folder/ours" "$mib" ${THREADS:-} <"$folder/input" >"$folder/said" 2>&1 &
exec 9>"$folder/input"
nbdfuse "$folder/theirs" --command nbdkit -s --exit-with-parent memory "${mib}M" 9>&- &
for ((i = 0; i < 100; i++)); do
    [ -e "$folder/ours/disk" ] && [ -e "$folder/theirs/nbd" ] && break
    sleep 0.1
done
if [ "${ON:-loop}" = loop ]; then
    for who in ours/disk theirs/nbd; do
        device[${who%/*}]=$(losetup --direct-io=on --sector-size 4096 --find --show "$folder/$who")
    done
else
    device=([ours]=$folder/ours/disk [theirs]=$folder/theirs/nbd)
fi
for each in "${device[@]}"; do
    fio --name=fill --filename="$each" --rw=write --bs=1m --iodepth=8 --direct=1 --ioengine=libaio >/dev/null
done

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# Requests a second, p99 in microseconds.
run() {
    fio --name=run --filename="${device[$1]}" --rw="$2" --bs="$3" --iodepth="$4" --ioengine="$5" --direct=1 \
        --norandommap --randrepeat=0 --time_based --runtime="${seconds}s" --ramp_time=200ms --output-format=json |
        jq -r '.jobs[0] | (if .read.total_ios > 0 then .read else .write end)
                        | [.iops, .clat_ns.percentile["99.000000"] / 1000] | @tsv'
}

printf '%-8s %-9s %5s %5s | %9s %9s %6s | %9s %9s\n' engine mode block depth ours nbdfuse ratio 'ours p99' 'nbd. p99'
for engine in ${ENGINES:-io_uring libaio}; do
    for mode in ${MODES:-randread randwrite}; do
        for block in ${BLOCKS:-4k 16k}; do
            for depth in ${DEPTHS:-1 16}; do
                declare -A iops=([ours]='' [theirs]='') p99=([ours]='' [theirs]='')
                ratios=''
                for ((round = 0; round < rounds; round++)); do
                    if ((round % 2)); then order='theirs ours'; else order='ours theirs'; fi
                    declare -A now=()
                    for who in $order; do
                        read -r requests latency < <(run "$who" "$mode" "$block" "$depth" "$engine")
                        iops[$who]+=$requests$'\n' p99[$who]+=$latency$'\n' now[$who]=$requests
                    done
                    ratios+=$(awk "BEGIN { print ${now[ours]} / ${now[theirs]} }")$'\n'
                done
                printf '%-8s %-9s %5s %5d | %9.0f %9.0f %6.2f | %9.0f %9.0f\n' "$engine" "$mode" "$block" "$depth" \
                    "$(printf %s "${iops[ours]}" | median)" "$(printf %s "${iops[theirs]}" | median)" \
                    "$(printf %s "$ratios" | median)" \
                    "$(printf %s "${p99[ours]}" | median)" "$(printf %s "${p99[theirs]}" | median)"
            done
        done
    done
done
