# What the shell commands of rules begin with: `step NAME ...` runs a script, and `fork NAME ...` runs it in a fork of a
# process with its imports done, if FORK says how. The last argument is the job's log. A job that was killed says so.
set -euo pipefail

# Where bars are on the terminal, their logger shows what jobs wrote when one fails.
if [ -t 2 ] && [ -w "${HEURISTIC_CORE_SCREEN:-}" ]; then exec >>"$HEURISTIC_CORE_SCREEN" 2>&1; fi

step() { "$PYTHON" "$WORKFLOW/fork_server/watch.py" "$WORKFLOW/scripts/$1.py" "${@:2}" || ended "$1" $? "${@: -1}"; }

fork() {
  if [ -z "$FORK" ]; then step "$@"; return; fi
  "$PYTHON" -IS "$WORKFLOW/fork_server/run.py" "$FORK" "$WORKFLOW/scripts/$1.py" "${@:2}" || ended "$1" $? "${@: -1}"
}

ended() {
  if [ "$2" = 137 ]; then
    local reason="killed by signal 9. If nobody did that, memory ran out: run with fewer --cores, or make jobs smaller"
    reason="$reason (prune.together, prune.batch_size, finetune.pass_tokens)"
    echo "$1: $reason" >&2
    echo "$(date +%T) failed: $reason" >>"$3" || true  # the disk may be full
  fi
  return "$2"
}
