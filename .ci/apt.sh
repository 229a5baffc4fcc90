# An apt of one's own, for packages that are unpacked and not installed; sourced, never run. WORK is
# its folder, which has a subfolder for each release.
# shellcheck shell=bash

# shellcheck source=.ci/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly SUITE=bookworm NEWER=trixie

# Writes Debian's own entries among the machine's apt sources that name the suite, each followed by
# a copy for backports, and the same of another release: the machine's mirror and keys serve for all.
private_sources() { # RELEASE
    local list parts file sources=$WORK/$1/sources BACKPORTS=$SUITE-backports
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "$list" "$parts"/*.list; do
        [[ -r $file ]] || continue
        awk -v suite=$SUITE -v backports=$BACKPORTS '
            $1 == "deb" && / main( |$)/ {
                at = 2
                if ($2 ~ /^\[/) { while ($at !~ /\]$/) at++; at++ }
                if ($(at + 1) !~ ("^" suite "(-updates|-security|/updates)?$")) next
                # Only the package index: other tools may have switched on large ones.
                if ($2 ~ /^\[/) sub(/\[/, "[ targets=Packages "); else sub(/deb/, "deb [ targets=Packages ]")
                print
                if ($0 ~ ("[ \t]" suite "[ \t]")) { sub("[ \t]" suite "[ \t]", " " backports " "); print }
            }' "$file"
    done >"$sources/machine.list"
    for file in "$parts"/*.sources; do
        [[ -r $file ]] || continue
        grep -v '^#' "$file" | awk -v suite=$SUITE -v backports=$BACKPORTS '
            BEGIN { RS = ""; ORS = "\n\n"; FS = "\n" }
            /(^|\n)Enabled: *no/ || !/(^|\n)Types:[^\n]*deb( |\n|$)/ || !/(^|\n)Components:[^\n]*main/ { next }
            {
                suites = ""
                for (i = 1; i <= NF; i++) if ($i ~ /^Suites:/) suites = substr($i, 8) " "
                if (suites !~ (" " suite "(-updates|-security)? ")) next
                sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb\nTargets: Packages")
                sub(/^\n/, "")
                print
                if (suites ~ (" " suite " ")) { sub(/\nSuites:[^\n]*/, "\nSuites: " backports); print }
            }'
    done >"$sources/machine.sources"
    grep -q "$BACKPORTS" "$sources"/* ||
        die "no apt source of this machine names Debian's suite $SUITE: nothing to derive $BACKPORTS from"
    sed -i "s/$SUITE/$1/g" "$sources"/*
}

# An apt with lists, cache and package database of its own. The empty database makes apt name every
# dependency rather than those this machine lacks. Preferences of packages go to the folder
# `preferences` beside them.
private_apt() { # RELEASE SETTING...
    local own=$WORK/$1
    mkdir -p "$own"/{sources,preferences,lists/partial,cache/archives/partial}
    private_sources "$1"
    cat >"$own/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$own/sources";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "$own/preferences";
Dir::State::lists "$own/lists";
Dir::State::status "/dev/null";
Dir::Cache "$own/cache";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
// These would clean up the machine's own cache.
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
    printf '%s\n' "${@:2}" >>"$own/apt.conf"
    # apt would otherwise fetch as a user who cannot write here.
    ((EUID != 0)) || echo 'APT::Sandbox::User "root";' >>"$own/apt.conf"
    # A source that fails is fatal only if it is one that is needed; that shows below.
    retry apt "$1" update --error-on=any >"$own/update.log" 2>&1 ||
        { cat "$own/update.log" >&2 && say "not every apt source could be read; going on with the others"; }
}

apt() { # RELEASE ARGUMENT...
    apt-get --config-file="$WORK/$1/apt.conf" --quiet=2 "${@:2}"
}
