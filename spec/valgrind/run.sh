# Real runs under valgrind: an error, or memory that nothing points to any more, fails. Needs
# PROGRAM, LUA, BUILD; ends with "N passed, M failed".
#
# Memory that something still points to at the end is fine: the loader's, that of modules.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
lines=500

# What it is, the exit status that it is to have, the command.
under() {
  name=$1 expected=$2
  shift 2
  valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect \
    --show-leak-kinds=definite,indirect --error-exitcode=99 --num-callers=30 \
    --log-file="$work/valgrind.log" "$@" >"$work/out" 2>"$work/err"
  status=$?
  if [ "$status" = "$expected" ]; then
    passed=$((passed + 1))
    echo "ok - $name"
  else
    failed=$((failed + 1))
    echo "not ok - $name (exit $status, expected $expected)"
    cat "$work/valgrind.log"
    tail -n 20 "$work/err"
  fi
}

store="sqlite:$work/run.db"
folder=spec/valgrind/folder
i=0
while [ $i -lt $lines ]; do
  echo "{\"handler\":\"fine\",\"payload\":{\"n\":$i},\"priority\":$((i % 7)),\"lane\":\"l$((i % 5))\"}"
  i=$((i + 1))
done >"$work/jobs.jsonl"
cp "$work/jobs.jsonl" "$work/bad.jsonl"
echo '{"handler":"nobody"}' >>"$work/bad.jsonl"

moonshift() {
  name=$1 expected=$2
  shift 2
  under "$name" "$expected" "$PROGRAM" "$@" -C "$folder" --store "$store"
}

moonshift "enqueue" 0 enqueue parent --lane a
moonshift "enqueue refuses what nobody handles" 4 enqueue nobody
moonshift "enqueue refuses what is no JSON" 2 enqueue fine '{'
moonshift "enqueue --from" 0 enqueue --from "$work/jobs.jsonl"
moonshift "enqueue --from refuses a bad line" 2 enqueue --from "$work/bad.jsonl"
moonshift "enqueue --count" 0 enqueue fine --count 100
for handler in fails snoozes endless hungry operates shell log; do
  moonshift "enqueue $handler" 0 enqueue $handler '{"command":"echo hello","message":"m"}'
done
moonshift "enqueue with a unique key" 0 enqueue limited '{"n":1}'
moonshift "and once more" 0 enqueue limited '{"n":1}'
moonshift "a batch" 0 batch create enqueue --handler fine --ids 1,2,3
moonshift "run --drain" 0 run --drain --log-level error
moonshift "run --drain with one worker" 0 run --drain --workers 1 --log-level error
for question in "job list" "job list --json" "log --json" "incident list" "stats" "check --store" \
  "executor list" "definition list" "schedule list" "operations" "history status" "settings"; do
  moonshift "$question" 0 $question
done
moonshift "job retry" 0 job retry --handler fails
under "a Lua program with the module" 0 env \
  LUA_PATH="./lua/?.lua;./lua/?/init.lua;;" LUA_CPATH="$BUILD/lua/?.so;;" \
  "$LUA" spec/valgrind/module.lua "$work"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
