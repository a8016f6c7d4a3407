#!/bin/sh
# wait.sh WHAT COMMAND…: runs the command and shows its progress: on a terminal in one line that it rewrites, in a log
# in a line every 20 seconds. If the command fails, its output is shown.
set -eu
what=$1
shift
log=$(mktemp)
"$@" >"$log" 2>&1 &
job=$!
trap 'kill $job 2>/dev/null || true; rm -f "$log"' EXIT
trap 'exit 130' INT TERM
if [ -t 1 ]; then every=1; else every=20; fi

seconds=0
while kill -0 "$job" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ $((seconds % every)) -eq 0 ]; then
        last=$(tail -n 1 "$log" | sed 's/^ *//; s/ (.*//' | cut -c 1-50)
        line="$what: $((seconds / 60)) min $((seconds % 60)) s${last:+, }$last"
        if [ "$every" -eq 1 ]; then printf '\r\033[K%s' "$line"; else echo "$line"; fi
    fi
done
if [ "$every" -eq 1 ]; then printf '\r\033[K'; fi
if wait "$job"; then :; else
    code=$?
    cat "$log" >&2
    exit "$code"
fi
