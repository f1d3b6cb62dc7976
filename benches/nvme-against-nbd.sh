#!/usr/bin/env bash
# The CPU that a served card in memory takes for a request over NVMe/TCP, against NBD: the same server, card and client (one
# of our own: crates/serve/examples/load.rs), both over TCP on the loopback.
#
#   benches/nvme-against-nbd.sh [FLASHRIG] [LOAD]
#   CARD=memory-16 ROUNDS=5 SECONDS_EACH=2 BLOCKS="4096 16384" DEPTHS="1 16 64" MODES="read write"
#
# Runs alternate, and the order rotates. Figures are medians of ROUNDS; the ratio is the median of the rounds' own ratios.
# Exit code 1 when NVMe takes more than BOUND (1.2) times the CPU of NBD in the median of all lines.
set -euo pipefail
flashrig=${1:-target/dist/flashrig} load=${2:-target/dist/examples/load}
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2} bound=${BOUND:-1.2}
folder=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
"$flashrig" serve "${CARD:-memory-16}" --memory --size 1GiB --nbd 127.0.0.1:0 --nvme 127.0.0.1:0 \
    --control "$folder/control" 2>"$folder/said" & server=$!
for ((i = 0; i < 100; i++)); do grep -q 'nqn\.' "$folder/said" && break; sleep 0.1; done
nbd=$(sed -n 's/^flashrig: NBD at //p' "$folder/said")
nvme=$(sed -n 's/^flashrig: NVMe at //p' "$folder/said")
nqn=$(sed -n 's/^flashrig: .*: \(nqn\..*\)/\1/p' "$folder/said")
[ -n "$nqn" ] || { echo "the server does not listen" >&2; cat "$folder/said" >&2; exit 1; }
declare -A at=([nbd]="nbd $nbd" [nvme]="nvme $nvme $nqn")
cpu() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.4g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# Requests a second, and microseconds of the server's CPU for each.
measure() {
    local before after out
    before=$(cpu)
    out=$("$load" ${at[$1]} "$2" "$3" "$4" "$seconds")
    after=$(cpu)
    awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" '{ print $1 / $2, ticks / hz * 1e6 / $1 }' <<<"$out"
}
# All of the range holds something.
for protocol in nbd nvme; do "$load" ${at[$protocol]} write 16384 16 4 >/dev/null; done
printf '%-12s %5s  %9s %9s  %8s %8s  %s\n' '' depth 'NBD/s' 'NVMe/s' 'NBD us' 'NVMe us' 'CPU ratio'
for mode in ${MODES:-read write}; do
    for block in ${BLOCKS:-4096 16384}; do
        for depth in ${DEPTHS:-1 16 64}; do
            rm -f "$folder"/*.rate "$folder"/*.cpu "$folder/ratio"
            for ((round = 0; round < rounds; round++)); do
                order=(nbd nvme)
                ((round % 2)) && order=(nvme nbd)
                for protocol in "${order[@]}"; do
                    read -r rate each <<<"$(measure "$protocol" "$mode" "$block" "$depth")"
                    echo "$rate" >>"$folder/$protocol.rate"
                    echo "$each" >>"$folder/$protocol.cpu"
                done
                paste "$folder/nvme.cpu" "$folder/nbd.cpu" | tail -n 1 | awk '{ print $1 / $2 }' >>"$folder/ratio"
            done
            ratio=$(median <"$folder/ratio")
            echo "$ratio" >>"$folder/ratios"
            printf '%-12s %5s  %9.0f %9.0f  %8.2f %8.2f  %.2f\n' "$mode $block" "$depth" "$(median <"$folder/nbd.rate")" \
                "$(median <"$folder/nvme.rate")" "$(median <"$folder/nbd.cpu")" "$(median <"$folder/nvme.cpu")" "$ratio"
        done
    done
done
all=$(median <"$folder/ratios")
echo "NVMe takes $all times the CPU of NBD for a request, in the median; the bound is $bound"
awk -v all="$all" -v bound="$bound" 'BEGIN { exit !(all <= bound) }'
