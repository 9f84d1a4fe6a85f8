# What the shell commands of rules begin with: `step NAME ...` runs a script, and `fork NAME ...` runs it in a fork of a
# process with its imports done, if FORK says how. A job that was killed says so.
set -euo pipefail

step() { "$PYTHON" "$WORKFLOW/fork_server/watch.py" "$WORKFLOW/scripts/$1.py" "${@:2}" || ended "$1" $?; }

fork() {
  if [ -z "$FORK" ]; then step "$@"; return; fi
  "$PYTHON" -IS "$WORKFLOW/fork_server/run.py" "$FORK" "$WORKFLOW/scripts/$1.py" "${@:2}" || ended "$1" $?
}

ended() {
  if [ "$2" = 137 ]; then
    echo "$1: killed by signal 9. If nobody did that, memory ran out: run with fewer --cores, or make jobs smaller" \
      "(prune.together, prune.batch_size, finetune.pass_tokens)" >&2
  fi
  return "$2"
}
