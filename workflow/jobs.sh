# Sourced by the shell command of every rule. `run_fresh NAME ...` runs a script in a new process; `run_forked NAME ...`
# runs it in a fork of a process that has done the imports, or like `run_fresh` if FORK_SERVER, the key of that server,
# is empty. The last argument is the job's log.
set -euo pipefail

# While progress bars are on the terminal, their logger keeps the output of jobs and shows it when a job fails.
if [ -t 2 ] && [ -w "${HEURISTIC_CORE_SCREEN:-}" ]; then exec >>"$HEURISTIC_CORE_SCREEN" 2>&1; fi

run_fresh() {
  "$PYTHON" "$WORKFLOW/fork_server/watch.py" "$WORKFLOW/scripts/$1.py" "${@:2}" || report_kill "$1" $? "${@: -1}"
}

run_forked() {
  if [ -z "$FORK_SERVER" ]; then run_fresh "$@"; return; fi
  "$PYTHON" -IS "$WORKFLOW/fork_server/run.py" "$FORK_SERVER" "$WORKFLOW/scripts/$1.py" "${@:2}" ||
    report_kill "$1" $? "${@: -1}"
}

report_kill() {
  if [ "$2" = 137 ]; then
    local reason="killed by signal 9; if nobody killed it, memory probably ran out: run with fewer --cores,"
    reason="$reason or make jobs smaller (prune.together, prune.batch_size, finetune.pass_tokens)"
    echo "$1: $reason" >&2
    echo "$(date +%T) failed: $reason" >>"$3" || true  # the disk may be full
  fi
  return "$2"
}
