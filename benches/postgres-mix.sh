#!/usr/bin/env bash
# PostgreSQL 80/20 on a served ioDrive 320 GB MLC and on six served SAS disks, side by side on one page, as the comparison
# published in 2009; each with its model's prediction for the same transactions.
#
#   benches/postgres-mix.sh FOLDER [FLASHRIG]   needs root and PostgreSQL; FOLDER is made, and keeps the page
#   DB_MIB=4096 BUFFERS=0.87 (share of it) SCANS=8 SESSIONS=1,8,16,32,64,100,128 POINT=12s
#
# The published server had most of its database in memory, and with flash its processors were the limit: a transaction read
# some two blocks, and the processors could do about 3,600 transactions a second. Most of the data lies in the buffers here as well,
# and SCANS range scans keep two cores as busy. The buffers lie in huge pages, as on any server with so many:
# with small ones half of the two cores' time goes into mapping them, in each of 128 processes.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 flashrig=$(realpath "${2:-target/dist/flashrig}")
db_mib=${DB_MIB:-4096} buffers=${BUFFERS:-0.87} scans=${SCANS:-8}
sessions=${SESSIONS:-1,8,16,32,64,100,128} point=${POINT:-12s}
command -v jq >/dev/null || { echo "jq is missing: apt-get install jq" >&2; exit 2; }
mkdir "$folder"
cd "$folder"
buffers_mib=$(awk "BEGIN { print int($db_mib * $buffers) }")
huge_pages=/proc/sys/vm/nr_hugepages
before=$(<$huge_pages)
trap 'echo "$before" >$huge_pages' EXIT
echo $((before + buffers_mib * 27 / 50 + 64)) >$huge_pages
for card in iodrive-320-mlc sas-raid10-6; do
    "$flashrig" review $card --database postgres --tables --parts mix --sessions "$sessions" --point "$point" \
        --size "$((db_mib * 2))m" --db-size "${db_mib}m" --shared-buffers "${buffers_mib}m" \
        --mix "SCANS=$scans,THINK_US=1500" --out $card
done
"$flashrig" compare iodrive-320-mlc.json sas-raid10-6.json --out flash-against-disks.html
jq -rs '[.[].database.mix.peak_tps] | "peak of flash over disks: \(.[0] / .[1] * 100 | round / 100)"' \
    iodrive-320-mlc.json sas-raid10-6.json
jq -rs '[.[].database.mix.points | map(.modelled_tps) | max] | "on the models: \(.[0] / .[1] * 100 | round / 100)"' \
    iodrive-320-mlc.json sas-raid10-6.json
