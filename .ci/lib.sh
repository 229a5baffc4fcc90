# Shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# rustup's folder is in the PATH only of shells started after its installation.
export PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

say() { printf '== %s\n' "$*" >&2; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The value of one field of os-release; empty where there is no such file.
os_release() {
    [[ -r /etc/os-release ]] || return 0
    # shellcheck disable=SC1091
    (. /etc/os-release && printf '%s' "${!1-}")
}

is_debian_12() { [[ $(os_release ID) == debian && $(os_release VERSION_ID) == 12 ]]; }

# Runs a command up to three times: mirrors answer badly now and then.
retry() {
    local attempt
    for attempt in 1 2 3; do
        "$@" && return 0
        ((attempt == 3)) || { say "attempt $attempt failed: $*" && sleep $((attempt * 2)); }
    done
    return 1
}
