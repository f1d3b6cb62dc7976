#!/bin/bash
# Lives of cards with faults for as long as is given (30s, 20m, 2h), half of it within the redundancy and half beyond, on
# all cores. The outcome is added to the ledger. Exit code 1 when a card broke its promise.
#
#     benches/soak.sh FLASHRIG TIME LEDGER
set -euo pipefail
flashrig=$(realpath "$1") time=$2 ledger=$3

case $time in
    *h) seconds=$((${time%h} * 3600)) ;;
    *m) seconds=$((${time%m} * 60)) ;;
    *s) seconds=${time%s} ;;
    *) echo "soak: write the time with its unit: 30s, 20m, 2h" >&2; exit 2 ;;
esac
half=$(((seconds + 1) / 2))
commit=$(git rev-parse --short HEAD)
git diff --quiet HEAD || commit="$commit, changed"
result=$(mktemp)
trap 'rm -f "$result"' EXIT

ended=0
for beyond in '' --beyond; do
    # Each soak has lives of its own; the seed and the commit tell which.
    seed=$(date +%s)
    command="torture --seed $seed --for ${half}s${beyond:+ $beyond}"
    echo "flashrig $command"
    code=0
    # shellcheck disable=SC2086 # words
    "$flashrig" $command --json > "$result" || code=$?
    [ $code -le 1 ] || exit $code
    [ $code = 0 ] || ended=1
    jq -r --arg date "$(date -u +%F)" --arg commit "$commit" --arg command "$command" '
        "| \($date) | \($commit) | `\($command)` | \(.lives) | \(.operations) | \(.power_cuts) | \(.faults) | "
        + (if .violation then "1: \(.violation.smallest.wrong | split("\n")[0])" else "0" end) + " |"
    ' "$result" | tee -a "$ledger"
done

# Lives of arrays that controllers share are short: a tenth of the time is many of them.
"$flashrig" torture --takeovers --seed "$(date +%s)" --for "$(((seconds + 9) / 10))s" || ended=1
exit $ended
