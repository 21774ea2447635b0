# Shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash
set -euo pipefail

STATE=${CLUSTERBRIDGE_ENGINES_STATE:-/var/tmp/clusterbridge-engines}
REGISTRY_PORT=${CLUSTERBRIDGE_REGISTRY_PORT:-5000}
REGISTRY=127.0.0.1:$REGISTRY_PORT

say() { printf '%s\n' "$*" >&2; }
fail() { say "$0: $*"; exit 1; }

# need COMMAND PACKAGE... : installs the Debian packages when the command is missing.
need() {
  local command=$1
  shift
  command -v "$command" >/dev/null && return 0
  [ "$(id -u)" = 0 ] || fail "$command is missing and only root can install it: apt-get install $*"
  command -v apt-get >/dev/null || fail "$command is missing; install it with your system's package manager"
  say "installing $*"
  [ -n "${APT_UPDATED:-}" ] || { apt-get update -qq && APT_UPDATED=1; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# alive NAME : whether the process that we started under this name still runs.
alive() {
  local pid
  pid=$(cat "$STATE/$1.pid" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

# start NAME COMMAND... : in a session of its own, with a log and a pid file.
start() {
  local name=$1
  shift
  mkdir -p "$STATE"
  setsid "$@" >"$STATE/$name.log" 2>&1 </dev/null &
  echo $! >"$STATE/$name.pid"
}

# stop NAME : ends what `start NAME` began, and nothing else.
stop() {
  local name=$1 pid
  alive "$name" || { rm -f "$STATE/$name.pid"; say "$name: not started from here"; return 0; }
  pid=$(cat "$STATE/$name.pid")
  kill "$pid"
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
  kill -0 "$pid" 2>/dev/null && fail "$name (pid $pid) does not end"
  rm -f "$STATE/$name.pid"
  say "$name: stopped"
}

# wait_for NAME SECONDS COMMAND... : until the command succeeds, or the tail of the log and a failure.
wait_for() {
  local name=$1 seconds=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    "$@" >/dev/null 2>&1 && return 0
    alive "$name" || break
    sleep 0.2
  done
  tail -20 "$STATE/$name.log" >&2
  fail "$name did not come up; its log is $STATE/$name.log"
}
