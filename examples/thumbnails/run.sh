#!/bin/sh
# The thumbnails example from an empty store to its report: run.sh [WORKERS [DIRECTORY]]. The images,
# the thumbnails and the store lie in DIRECTORY (a new temporary one unless it is given).
# STORE is the URL of another store.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
lua=${LUA:-lua5.4}
workers=${1:-4}
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-thumbnails.XXXXXX")}
store=${STORE:-sqlite:$work/jobs.db}
executor=

say() {
  printf '\n== %s\n' "$1"
}

batch() {
  verb=$1
  shift
  "$moonshift" batch "$verb" "$@" -C "$here" --store "$store"
}

stop() {
  [ -z "$executor" ] || { kill "$executor" 2>/dev/null && wait "$executor"; } || true
  executor=
}
trap stop EXIT

say "24 images, one of them damaged: $work/images"
mkdir -p "$work/images" "$work/thumbnails"
"$lua" "$here/generate" "$work/images"

say "a batch over the folder: one job for each image, and a contact sheet at the end"
ls "$work"/images/*.ppm | batch create thumbnail --ids-from - --name "holiday" \
  --config "{\"to\":\"$work/thumbnails\",\"sheet\":\"$work/sheet.ppm\",\"size\":64}" \
  --on-complete contact_sheet

say "an executor with $workers workers, and how far the batch is"
"$moonshift" run "$here" --store "$store" --workers "$workers" --log-level error \
  2>"$work/log" &
executor=$!
until "$moonshift" executor list --store "$store" | grep -q live; do
  kill -0 "$executor" && sleep 0.05
done
batch show 1 --wait || true

say "the damaged image is mended and tried again"
"$lua" "$here/generate" "$work/images" 13
batch retry-failed 1 --wait
batch list
stop
"$moonshift" run "$here" --store "$store" --workers "$workers" --drain --log-level error

say "the report: $work/thumbnails against $work/images"
"$lua" "$here/report" "$work/images" "$work/thumbnails" "$work/sheet.ppm"
