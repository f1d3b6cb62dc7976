#!/usr/bin/env bash
# A card in memory (CARD, full; flash management, checksums, parity) over NBD, against nbdkit's memory plugin and qemu-nbd
# on a file in tmpfs: the same client, fio's nbd engine, on a unix socket.
#
#   benches/serve-against-nbd-servers.sh [FLASHRIG]   needs fio, jq, nbdkit, qemu-utils
#   CARD=memory-16 ROUNDS=5 SECONDS_EACH=2 MIB=1024 BLOCKS="4k 16k" DEPTHS="1 16 64" MODES="randread randwrite"
#
# Runs alternate, and who begins rotates. Figures are medians of ROUNDS in requests a second; ratios are medians of the
# rounds' own ratios. Behind them: CPU time of each server for one request, in microseconds. All are filled before, and
# written over at random for as long as they take new memory from the system.
set -euo pipefail
flashrig=${1:-target/dist/flashrig}
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2} mib=${MIB:-1024}
for tool in fio jq nbdkit qemu-nbd; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install fio jq nbdkit qemu-utils" >&2; exit 2; }
done
folder=$(mktemp -d)
shm=$(mktemp -d /dev/shm/flashrig.XXXXXX)
declare -A pid
end() {
    kill "${pid[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder" "$shm"
}
trap end EXIT
"$flashrig" serve "${CARD:-memory-16}" --memory --size "${mib}MiB" --nbd "unix:$folder/flashrig" --control "$folder/control" \
    2>"$folder/said" & pid[flashrig]=$!
nbdkit -f -U "$folder/nbdkit" memory "${mib}M" & pid[nbdkit]=$!
truncate -s "${mib}M" "$shm/disk"
qemu-nbd -k "$folder/qemu-nbd" -f raw -t -e 16 --cache=writeback --aio=threads "$shm/disk" & pid[qemu-nbd]=$!
servers=(flashrig nbdkit qemu-nbd)
for server in "${servers[@]}"; do
    for ((i = 0; i < 100; i++)); do [ -S "$folder/$server" ] && break; sleep 0.1; done
    [ -S "$folder/$server" ] || { echo "$server does not listen" >&2; cat "$folder/said" >&2; exit 1; }
done
uri() { echo "nbd+unix:///?socket=$folder/$1"; }
resident() { awk '/VmRSS/ { print $2 }' "/proc/${pid[$1]}/status"; }
cpu() { awk '{ print $14 + $15 }' "/proc/${pid[$1]}/stat"; }
for server in "${servers[@]}"; do
    fio --name=fill --ioengine=nbd --uri="$(uri "$server")" --rw=write --bs=256k --iodepth=8 --size="${mib}m" >/dev/null
    before=0
    while now=$(resident "$server"); [ $((now - before)) -gt $((mib * 1024 / 100)) ]; do
        before=$now
        fio --name=over --ioengine=nbd --uri="$(uri "$server")" --rw=randwrite --bs=16k --iodepth=16 --size="${mib}m" >/dev/null
    done
done

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# Requests a second, and microseconds of the server's CPU for each.
measure() {
    local before after out
    before=$(cpu "$1")
    out=$(fio --output-format=json --name=run --ioengine=nbd --uri="$(uri "$1")" --rw="$2" --bs="$3" --iodepth="$4" \
        --size="${mib}m" --time_based --runtime="$seconds" --norandommap --randrepeat=0)
    after=$(cpu "$1")
    jq -r --argjson ticks $((after - before)) --argjson hz "$(getconf CLK_TCK)" \
        '.jobs[0] | (.read.iops + .write.iops), ($ticks / $hz * 1e6 / (.read.total_ios + .write.total_ios))' <<<"$(sed -n '/^{/,$p' <<<"$out")" | paste -sd' '
}
printf '%-14s %5s  %8s %8s %8s  %7s %7s  %s\n' '' depth flashrig nbdkit qemu-nbd nbdkit= qemu= 'CPU us each'
for mode in ${MODES:-randread randwrite}; do
    for block in ${BLOCKS:-4k 16k}; do
        for depth in ${DEPTHS:-1 16 64}; do
            rm -f "$folder"/*.iops "$folder"/*.cpu "$folder"/*.ratio
            for ((round = 0; round < rounds; round++)); do
                declare -A iops=()
                for ((turn = 0; turn < 3; turn++)); do
                    server=${servers[(round + turn) % 3]}
                    read -r iops[$server] each <<<"$(measure "$server" "$mode" "$block" "$depth")"
                    echo "${iops[$server]}" >>"$folder/$server.iops"
                    echo "$each" >>"$folder/$server.cpu"
                done
                for other in nbdkit qemu-nbd; do
                    awk "BEGIN { print ${iops[flashrig]} / ${iops[$other]} }" >>"$folder/$other.ratio"
                done
            done
            printf '%-14s %5s  %8.0f %8.0f %8.0f  %7.2f %7.2f  %.1f %.1f %.1f\n' "$mode $block" "$depth" \
                "$(median <"$folder/flashrig.iops")" "$(median <"$folder/nbdkit.iops")" "$(median <"$folder/qemu-nbd.iops")" \
                "$(median <"$folder/nbdkit.ratio")" "$(median <"$folder/qemu-nbd.ratio")" \
                "$(median <"$folder/flashrig.cpu")" "$(median <"$folder/nbdkit.cpu")" "$(median <"$folder/qemu-nbd.cpu")"
        done
    done
done
# What it costs to do nothing, for ten seconds.
busy_ns() { cat "/proc/${pid[flashrig]}"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns }'; }
before=$(busy_ns); sleep 10; after=$(busy_ns)
awk "BEGIN { printf \"idle: %.3f %% of a core\n\", ($after - $before) / 1e9 / 10 * 100 }"
awk -v mib="$mib" '/VmRSS/ { printf "memory: %.2f bytes for each byte of the card\n", $2 / 1024 / mib }' "/proc/${pid[flashrig]}/status"
