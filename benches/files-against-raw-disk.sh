#!/usr/bin/env bash
# A card in files, half full and in steady state: random 16 KiB writes over NBD and within the process, against what the same
# disk takes when it is written from front to back with direct I/O, and when a third of what it does is reads of 64 KiB:
# garbage collection reads about one unit for every two that are written.
#
#   benches/files-against-raw-disk.sh FOLDER [FLASHRIG [EXAMPLE]]   needs fio, jq, curl; FOLDER is made, and removed afterwards
#   CARD=drive-array-16 ROUNDS=5 SECONDS_EACH=5 MIB=4096 DEPTH=64 SET='geometry.blocks_per_plane=5364'
#
# EXAMPLE is files_speed of crates/live. Runs alternate. The ratio of a round is what the card wrote for the host, times its
# write amplification and its parity in that round, over what the disk took raw: 1 is all that the disk gives. `of the mix`
# is the same over the writes that the disk took between reads. Figures are medians.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 flashrig=${2:-target/dist/flashrig}
example=${3:-$(dirname "$flashrig")/examples/files_speed}
[ -x "$example" ] || { echo "$example is missing: cargo build --profile dist -p live --example files_speed" >&2; exit 2; }
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-5} mib=${MIB:-4096} depth=${DEPTH:-64} card=${CARD:-drive-array-16}
for tool in fio jq curl; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install fio jq curl" >&2; exit 2; }
done
mkdir "$folder"
sockets=$(mktemp -d)
pid=
end() {
    for started in $pid ${inside_PID:-}; do kill "$started" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder" "$sockets"
}
trap end EXIT
read -ra settings <<<"${SET:-}"
"$flashrig" create "$folder/card" --card "$card" --size "${mib}MiB" "${settings[@]/#/--set=}" >/dev/null
"$flashrig" serve "$folder/card" --nbd "unix:$sockets/nbd" --control "$sockets/control" 2>"$sockets/said" & pid=$!
for ((i = 0; i < 100; i++)); do [ -S "$sockets/nbd" ] && break; sleep 0.1; done
[ -S "$sockets/nbd" ] || { echo "it does not listen" >&2; cat "$sockets/said" >&2; exit 1; }
uri="nbd+unix:///?socket=$sockets/nbd"
half=$((mib / 2))
status() { curl -s --unix-socket "$sockets/control" http://card/v1/status; }
write() {
    fio --output-format=json --name=run --ioengine=nbd --uri="$uri" --size="${half}m" --norandommap --randrepeat=0 "$@" | sed -n '/^{/,$p'
}
# Bytes a second of the disk, from front to back.
raw() {
    fio --output-format=json --name=raw --filename="$folder/raw" --rw=write --direct=1 --bs=1M --ioengine=io_uring --iodepth=8 \
        --size="${half}m" --time_based --runtime="$seconds" | sed -n '/^{/,$p' | jq '.jobs[0].write.bw_bytes'
}
# Writes from front to back and reads in between, anywhere: bytes a second of the writes.
mix() {
    fio --output-format=json --name=raw --filename="$folder/raw" --rw=randrw --rwmixread=33 --percentage_random=100,0 --direct=1 \
        --bs=64k --ioengine=io_uring --iodepth=64 --size="${half}m" --time_based --runtime="$seconds" \
        | sed -n '/^{/,$p' | jq '.jobs[0].write.bw_bytes'
}
# Until all of the flash was written once: what file systems set aside is slow to be written for the first time.
write --rw=write --bs=256k --iodepth=8 >/dev/null
while status | jq -e ".host_sectors * 4096 < $((mib * 1048576 * 2))" >/dev/null; do
    write --rw=randwrite --bs=16k --iodepth="$depth" --time_based --runtime=5 >/dev/null
done
mkdir "$folder/inside"
coproc inside { exec "$example" "$folder/inside" "$card" "$mib" "$depth" "${settings[@]}"; }
within() { echo "$1" >&"${inside[1]}" && read -r -u "${inside[0]}" line && echo "$line"; }
within 0.1 >/dev/null
raw >/dev/null
median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.6g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
cpu() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
for ((round = 0; round < rounds; round++)); do
    disk=$(raw) mixed=$(mix)
    before=$(status) ticks=$(cpu)
    wrote=$(write --rw=randwrite --bs=16k --iodepth="$depth" --time_based --runtime="$seconds")
    after=$(status) ticks=$(($(cpu) - ticks))
    inner=$(within "$seconds")
    jq -rn --argjson mixed "$mixed" --argjson inner "$inner" --argjson b "$before" --argjson a "$after" --argjson w "$wrote" --argjson disk "$disk" --argjson ticks "$ticks" \
        --argjson hz "$(getconf CLK_TCK)" '
        def of($k): $a[$k] - $b[$k];
        ((of("host_sectors") + of("relocated_sectors")) / of("host_sectors")) as $waf
        | ((of("host_sectors") + of("relocated_sectors") + of("parity_sectors")) / (of("host_sectors") + of("relocated_sectors"))) as $parity
        | $w.jobs[0].write as $run
        | "\($disk / 1e6) \($run.bw_bytes / 1e6) \($waf) \($parity) \($run.bw_bytes * $waf * $parity / $disk) \($ticks / $hz * 1e6 / $run.total_ios)"
            + ($inner.bytes_per_second * $inner.write_amplification * $inner.parity) as $inside
            | " \($mixed / 1e6) \($run.bw_bytes * $waf * $parity / $mixed) \($inner.bytes_per_second / 1e6) "
            + "\($inner.write_amplification) \($inner.parity) \($inside / $disk) \($inner.cpu_us_each) \($inside / $mixed)"' \
        >>"$sockets/rounds"
done
column() { awk "{ print \$$1 }" "$sockets/rounds" | median; }
printf 'raw disk %.0f MB/s; writes between reads %.0f MB/s\n' "$(column 1)" "$(column 7)"
row='%-14s %4.0f MB/s, write amplification %.2f, parity %.3f, ratio %.2f, of the mix %.2f, CPU us each %.1f\n'
printf "$row" 'over NBD:' "$(column 2)" "$(column 3)" "$(column 4)" "$(column 5)" "$(column 8)" "$(column 6)"
printf "$row" 'in-process:' "$(column 9)" "$(column 10)" "$(column 11)" "$(column 12)" "$(column 14)" "$(column 13)"
