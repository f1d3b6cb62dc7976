#!/usr/bin/env bash
# Clients with a connection each: a card whose modules are files (CARD) over NBD, against qemu-nbd on one raw file of the
# same disk, without the page cache.
#
#   benches/many-clients.sh FOLDER [FLASHRIG]   needs fio, jq, qemu-utils; FOLDER is made, and removed afterwards
#   CARD=drive-array-16 SIZE=2GiB ROUNDS=3 SECONDS_EACH=2 SHARDS=1
#
# Runs of fio's nbd engine alternate; figures are medians of ROUNDS: requests a second (of flushed writes, writes with their
# flushes), 99th percentiles in microseconds, the servers' CPU in microseconds for each. The ratio is that of the rates.
set -euo pipefail
folder=${1:?the first word is the folder of the card, which is made} flashrig=${2:-target/dist/flashrig}
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-2} size=${SIZE:-2GiB}
for tool in fio jq qemu-nbd qemu-img; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install fio jq qemu-utils" >&2; exit 2; }
done
[ ! -e "$folder" ] || { echo "$folder: it is there already; name a folder to be made" >&2; exit 2; }
declare -A pid=()
end() {
    kill "${pid[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
mkdir -p "$folder"
"$flashrig" create "$folder/card" --card "${CARD:-drive-array-16}" --size "$size" --shards "${SHARDS:-1}" >/dev/null
"$flashrig" serve "$folder/card" --nbd "unix:$folder/flashrig" --control "$folder/control" --log none \
    2>"$folder/said" & pid[flashrig]=$!
qemu-img create -q -f raw -o preallocation=falloc "$folder/raw" "${size%iB}"
qemu-nbd -k "$folder/qemu-nbd" -f raw -t -e 64 --cache=none --aio=native "$folder/raw" & pid[qemu-nbd]=$!
for server in flashrig qemu-nbd; do
    for ((i = 0; i < 100; i++)); do [ -S "$folder/$server" ] && break; sleep 0.1; done
    [ -S "$folder/$server" ] || { echo "$server does not listen" >&2; cat "$folder/said" >&2; exit 1; }
    fio --name=fill --ioengine=nbd --uri="nbd+unix:///?socket=$folder/$server" --rw=write --bs=256k --iodepth=8 \
        --size=1g --refill_buffers >/dev/null
done

cpu() { awk '{ print $14 + $15 }' "/proc/${pid[$1]}/stat"; }
median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# Requests a second, the 99th percentile in microseconds, and microseconds of the server's CPU for each.
measure() {
    local server=$1 before after out
    shift
    before=$(cpu "$server")
    out=$(fio --output-format=json --name=run --ioengine=nbd --uri="nbd+unix:///?socket=$folder/$server" --thread \
        --group_reporting --time_based --runtime="$seconds" --size=1g --norandommap --randrepeat=0 --refill_buffers "$@")
    after=$(cpu "$server")
    sed -n '/^{/,$p' <<<"$out" | jq -r --argjson ticks $((after - before)) --argjson hz "$(getconf CLK_TCK)" '.jobs[0]
        | (.read.iops + .write.iops), ([.read, .write, .sync] | map(.clat_ns // .lat_ns | .percentile["99.000000"] // 0) | max / 1000),
          ($ticks / $hz * 1e6 / (.read.total_ios + .write.total_ios))' | paste -sd' '
}
printf '%-9s %7s %5s  %8s %8s %5s  %7s %7s  %6s %6s\n' '' clients depth flashrig qemu-nbd ratio p99 qemu-nbd CPU qemu-nbd
for cell in "read 1 16" "read 2 1" "read 2 8" "read 4 1" "read 16 1" "read 16 4" "flushed 1 1" "flushed 4 1" "flushed 16 1"; do
    read -r kind clients depth <<<"$cell"
    words=(--rw=randread --bs=8k)
    [ "$kind" = read ] || words=(--rw=randwrite --bs=8k --fsync=1)
    rm -f "$folder"/*.rate "$folder"/*.p99 "$folder"/*.cpu
    for ((round = 0; round < rounds; round++)); do
        servers=(flashrig qemu-nbd)
        ((round % 2 == 0)) || servers=(qemu-nbd flashrig)
        for server in "${servers[@]}"; do
            read -r rate p99 each <<<"$(measure "$server" "${words[@]}" --numjobs="$clients" --iodepth="$depth")"
            echo "$rate" >>"$folder/$server.rate" && echo "$p99" >>"$folder/$server.p99" && echo "$each" >>"$folder/$server.cpu"
        done
        paste "$folder/flashrig.rate" "$folder/qemu-nbd.rate" | tail -1 | awk '{ print $1 / $2 }' >>"$folder/ratio.rate"
    done
    figure() { median <"$folder/$1"; }
    printf '%-9s %7s %5s  %8.0f %8.0f %5.2f  %7.0f %7.0f  %6.1f %6.1f\n' "$kind 8K" "$clients" "$depth" \
        "$(figure flashrig.rate)" "$(figure qemu-nbd.rate)" "$(figure ratio.rate)" \
        "$(figure flashrig.p99)" "$(figure qemu-nbd.p99)" "$(figure flashrig.cpu)" "$(figure qemu-nbd.cpu)"
done
