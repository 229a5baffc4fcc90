#!/bin/sh
# Labels of a node for the source `local` of Node Feature Discovery, from a report's metrics: `KEY=VALUE` in each line, and when
# they expire. Newer versions of it require the prefix that older ones add.
#
#   features.sh measure HOURS    measures now and every so many hours, into /features
#   features.sh publish          copies what is new there into the node's folder /node
#   features.sh labels HOURS     labels on standard output, of metrics (`--format prometheus`) on standard input

set -u

# One label for each profile: of several devices the worst class. Labels expire an hour after the next measurement is due.
labels() {
    expiry=$(date --utc --date="+$(($1 + 1)) hours" +%Y-%m-%dT%H:%M:%SZ) || return
    awk -v expiry="$expiry" '
        function label(name) {
            return match($0, name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3) : ""
        }
        BEGIN { prefix = "feature.node.kubernetes.io/fpprobe-"; count = split("conforms,conforms with,deviates,incomplete", classes, ",") }
        /^fpprobe_device_info[{]/ { devices++ }
        /^fpprobe_profile_class[{].*[}] 1$/ {
            profile = label("profile")
            if (!(profile in worst)) profiles[++number] = profile
            for (rank = 1; classes[rank] != label("class") && rank < count; rank++) { }
            if (rank > worst[profile]) worst[profile] = rank
        }
        END {
            if (!devices) { print "no device was measured" > "/dev/stderr"; exit 1 }
            print "# +expiry-time=" expiry
            print prefix "devices=" devices
            for (at = 1; at <= number; at++) {
                value = classes[worst[profiles[at]]]
                gsub(" ", "-", value)
                print prefix profiles[at] "=" value
            }
        }'
}

case ${1-} in
    labels) labels "${2:?how many hours between two measurements?}" ;;
    measure)
        : "${2:?how many hours between two measurements?}"
        while :; do
            # 3 and 5 are results as well. Without a result, the labels of before stay until they expire.
            # The journal of the run, beside the metrics, takes a hundred megabytes.
            fpprobe run --format prometheus -o "$STATE_DIRECTORY/metrics"
            case $? in
                0 | 3 | 5) labels "$2" <"$STATE_DIRECTORY/metrics" >/features/.new && mv /features/.new /features/fpprobe ;;
                *) echo "measured nothing (status $?); the next attempt is in $2 hours" >&2 ;;
            esac
            sleep "$(($2 * 3600))"
        done
        ;;
    publish)
        while :; do
            if [ -e /features/fpprobe ] && ! cmp -s /features/fpprobe /node/fpprobe; then
                # Hidden files are no features, and a file appears whole.
                cp /features/fpprobe /node/.fpprobe && mv /node/.fpprobe /node/fpprobe
            fi
            sleep 60
        done
        ;;
    *) echo 'usage: features.sh measure HOURS | publish | labels HOURS' >&2 && exit 2 ;;
esac
