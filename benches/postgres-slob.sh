#!/usr/bin/env bash
# The SLOB method on PostgreSQL: a served tachIOn 400 GB, a served Violin 3205, and the disk that FOLDER lies on, side by
# side on one page.
#
#   benches/postgres-slob.sh FOLDER [FLASHRIG]   needs root, PostgreSQL and 8 GB; FOLDER is made, and keeps the page
#   SCALE=10000 (blocks a session) UPDATE_PCT=20 SESSIONS=1,2,4,8,16,32,64 POINT=20s SIZE=8g (of the cards)
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 flashrig=$(realpath "${2:-target/dist/flashrig}")
slob="SCALE=${SCALE:-10000},UPDATE_PCT=${UPDATE_PCT:-20}"
sessions=${SESSIONS:-1,2,4,8,16,32,64} point=${POINT:-20s} size=${SIZE:-8g}
mkdir "$folder"
cd "$folder"
mkdir own-disk
# The server's own user passes through.
chmod o+x . own-disk
# NAME TARGET [OPTION ...]
review() {
    local name=$1 target=$2
    shift 2
    "$flashrig" review "$target" --database postgres --tables --parts slob --sessions "$sessions" --point "$point" --slob "$slob" "$@" --out "$name"
}
review tachion-400 tachion-400 --size "$size"
review violin-3205 violin-3205 --size "$size"
review disk "$PWD/own-disk"
rmdir own-disk
"$flashrig" compare tachion-400.json violin-3205.json own-disk=disk.json --out slob.html
