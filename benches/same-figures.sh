#!/bin/bash
# Runs commands with fixed seeds, two at a time, and writes the JSON of each into a new folder. A change that means to leave
# every figure as it is must not change this JSON. With a file of checksums it names the ones that differ.
#
#     benches/same-figures.sh FLASHRIG FOLDER [CHECKSUMS]
#
# Exit code 1 when one differs. After a change of figures that is meant:
#
#     (cd FOLDER && LC_ALL=C sha256sum *.json) > benches/figures.sha256
set -euo pipefail
flashrig=$(realpath "$1") folder=$2 checksums=${3:+$(realpath "$3")}
here=$(realpath "$(dirname "$0")/..")
export flashrig LC_ALL=C

mkdir "$folder"
cd "$folder"

# Paths stand in the results: they are relative to the folder.
ln -s "$here/crates/import/tests/fixtures" fixtures
awk 'BEGIN {
    for (i = 0; i < 6000; i++)
        printf "%.0f,usr,0,%s,%.0f,%d,0\n", 128166372003061000 + i * 5000 + i % 7 * 100,
            i % 3 ? "Write" : "Read", i * 7919 % 100003 * 4096, 4096 * (1 + i % 4)
}' > trace.msr
awk 'BEGIN {
    print "fio version 3 iolog\n1 /dev/sda add\n2 /dev/sda open"
    split("read write trim datasync", ops, " ")
    for (i = 0; i < 6000; i++) {
        op = ops[1 + i % 4]
        printf "%d /dev/sda %s %.0f %d\n", 3 + i * 50, op, op == "datasync" ? 0 : i * 104729 % 50021 * 8192, op == "datasync" ? 0 : 8192
    }
    print "400000 /dev/sda close"
}' > trace.fio

# one NAME WORD...: the command's JSON without times of the wall clock, and its exit status in the last line.
one() {
    local name=$1 status=0
    shift
    "$flashrig" "$@" > "$name.raw" 2> "$name.err" || status=$?
    # A card in files has random names.
    sed -E '/"(precondition_)?wall_seconds"|"took_s"/d; s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g' "$name.raw" > "$name.json"
    echo "exit status $status" >> "$name.json"
    rm "$name.raw"
    # 0 is yes and 1 is no; the rest are mistakes of this list.
    if [ $status -gt 1 ]; then
        echo "same-figures: $name: exit status $status: $*" >&2
        cat "$name.err" >&2
        return 1
    fi
    rm "$name.err"
}
export -f one

# commands < LINES: NAME WORD..., one command in each line.
commands() {
    grep -v -E '^ *(#|$)' | xargs -P 2 -d '\n' -I {} bash -c 'one $0' {}
}

# The inputs of other commands come first: the media that lives leave behind, and a card in files.
for card in protected unprotected shared-cells volatile-cache fading; do
    echo "life-$card torture --card $card --seed 8 --lives 3 --operations 1500 --image media-$card --json"
done | commands
one create create files --card tachion-400 --size 64MiB --json

{
    # Every card.
    for card in "$here"/cards/*.toml; do
        card=$(basename "$card" .toml)
        # Disks and volumes have no scale.
        scale=$(grep -qE '^kind = "(disks|volume)"' "$here/cards/$card.toml" || echo "--scale 1/256")
        echo "card-$card run $card --load rndwr $scale --requests 40000 --json -"
        echo "show-$card show $card --json"
    done
    # Every load.
    for load in seqwr seqrewr seqrd rndrd rndwr rndrw redo slob oltp; do
        echo "load-$load run tachion-300 --load $load --scale 1/256 --requests 40000 --json -"
        echo "load-disks-$load run sas-raid10-6 --load $load --requests 5000 --json -"
    done
    # Every host.
    for host in "$here"/hosts/*.toml; do
        host=$(basename "$host" .toml)
        echo "host-$host run violin-3205 --load rndrw --host $host --threads 32 --scale 1/256 --requests 40000 --json -"
    done
    # Torture, within the redundancy and beyond.
    for seed in 1 2 3; do
        echo "torture-$seed torture --seed $seed --lives 120 --operations 5000 --json"
        echo "torture-beyond-$seed torture --seed $seed --lives 400 --beyond --json"
    done
    # The contents of the media.
    for card in protected unprotected shared-cells volatile-cache fading; do
        echo "fsck-$card fsck media-$card --json"
        echo "fsck-verify-$card fsck media-$card --verify --json"
        echo "fsck-lba-$card fsck media-$card --lba 0..35 --json"
        for band in 0 2 5 7; do
            echo "fsck-band-$band-$card fsck media-$card --band $band --json"
        done
    done
    cat <<'LIST'
fsck-files fsck files --verify --json
cards cards --json
# Settings, mixes and tails.
explain-writes run tachion-400 --load rndwr --block 16k --fill 90% --scale 1/256 --requests 40000 --explain-tail --json -
explain-mix run iodrive-320-mlc --load rndrw --fsync-freq 10 --scale 1/256 --requests 40000 --explain-tail --json -
explain-stalls run tachion-400-preproduction --load rndwr --scale 1/256 --requests 40000 --explain-tail --json -
explain-qlc run consumer-qlc-2tb --load rndrw --scale 1/256 --requests 40000 --explain-tail --json -
fresh run flashmax-n800 --load rndwr --fresh --scale 1/256 --requests 40000 --json -
seed-7 run tachion-400 --load rndwr --scale 1/256 --requests 40000 --seed 7 --json -
fifo run tachion-400 --load rndwr --scale 1/256 --requests 40000 --set ftl.victim=fifo --json -
cost-benefit run tachion-400 --load rndwr --scale 1/256 --requests 40000 --set ftl.victim=cost-benefit --access hot-cold:10/90 --json -
zipf run datacenter-tlc-3840 --load rndrw --scale 1/512 --requests 40000 --access zipf:0.9 --depth 4 --json -
rate run tachion-400 --load rndrw --scale 1/256 --requests 40000 --rate 20000 --think 10us --json -
shifted run tachion-400 --load rndwr --scale 1/256 --requests 40000 --offset-shift 512 --json -
own-regions run tachion-400 --load seqrewr --scale 1/256 --requests 40000 --own-regions --json -
slob-flashmax run flashmax-n800 --load slob --slob-readers 16 --slob-writers 4 --scale 1/256 --requests 40000 --json -
trace-recorded run tachion-400 --trace trace.msr --scale 1/256 --json -
trace-fast run tachion-400 --trace trace.msr --speed max --depth 64 --scale 1/256 --explain-tail --json -
trace-fio run iodrive-160-slc --trace trace.fio --speed 2x --scale 1/256 --json -
# Whole studies.
review review tachion-400 --quick --scale 1/512 --out review --json
review-disks review sas-raid10-6 --quick --only threads,sync --out review-disks --json
whatif whatif tachion-400 --fill 50,90 --reserve 0,10 --threads 8,64 --scale 1/512 --seconds 0.4 --json -
whatif-search whatif tachion-400 --fill 20..100 --target-p99 1ms --scale 1/512 --seconds 0.4 --json -
whatif-vary whatif iodrive-160-slc --vary ftl.victim=greedy,fifo --load rndwr,rndrw --scale 1/512 --seconds 0.4 --json -
lifetime lifetime tachion-400 --per-day 2TB --access hot-cold:10/90 --cycles 50 --scale 1/256 --json -
lifetime-qlc lifetime consumer-qlc-2tb --reserve 0,10 --cycles 30 --scale 1/512 --json -
fit fit published:tachion-400-fill --hold-out 2 --json
validate-duo validate --table duo-fill --scale 1/256 --json -
validate-threads validate --table tachion-400-threads --scale 1/256 --json -
# The results of other tools.
compare compare tool=fixtures/fio-2.21.json fixtures/sysbench-1.0.20.txt published:tachion-400-fill --all --json
LIST
} | commands

rm -r fixtures trace.* media-* files review*.html
[ -n "$checksums" ] || exit 0
sha256sum --check --quiet "$checksums" && echo "$(wc -l < "$checksums") results are the same"
