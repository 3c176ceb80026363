#!/usr/bin/env bash
# Tests, sanitizers and bench on a machine with a GPU, without Rust: `run.sh [tests|restart|graphs|sanitizers|bench]..`,
# default all. Exits with 1 if anything is wrong. GRAPHS_FOLDER says where files are on which every algorithm is to be
# verified, JOBS how many at once; SANITIZER where compute-sanitizer is, TOOLS which of its tools are wanted; GRAPHS where
# more graphs to bench are.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for packed in warpath*.gz; do
    [[ ! -e $packed ]] || gunzip -f "$packed" || exit 1
done
chmod +x warpath warpath-tests warpath-bench
logs=${LOGS:-$PWD/logs}
mkdir -p "$logs"
parts=${*:-tests restart graphs sanitizers bench}
failed=0
rows=()

# One row of the table: what, verdict, remark.
row() { rows+=("$(printf '%-44s %-8s %s' "$1" "$2" "$3")"); }

# Runs a command into a log, and makes a row of how it went.
attempt() {
    local name=$1 log start=$SECONDS
    shift
    log="$logs/${name//[^a-zA-Z0-9]/-}.log"
    if "$@" >"$log" 2>&1; then
        row "$name" ok "$((SECONDS - start)) s"
    else
        row "$name" FAILED "see $log"
        tail -n 25 "$log"
        failed=1
    fi
}

# The algorithms of the CUDA engine for a problem.
algorithms() {
    ./warpath devices --json | python3 -c '
import json, sys
for found in json.load(sys.stdin)["algorithms"]:
    if found["engine"] == "cuda" and found["problem"] == sys.argv[1] and "as-printed" not in found["name"] and "unsynchronized" not in found["name"]:
        print(found["name"])' "$1"
}

# What the files of GRAPHS_FOLDER do not say themselves: how they are read, lengths of their arcs, a vertex to start from.
about() {
    reading=() lengths=(--weights random:0..1000) source=1
    case ${1##*/} in
        luxembourg* | delaunay*) reading=(--format matrix-market) ;;
        Email-Enron*) reading=(--first-line counts) ;;
        USA-road*) lengths=() ;;
        *.as-rel.txt*) source=174 ;;
    esac
}

# How many vertices a file has.
vertices() {
    about "$1"
    ./warpath info "$1" "${reading[@]}" --weights unit --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["vertices"])'
}

# Whether an algorithm is run on so many vertices. All pairs are for some thousands, and one search after another takes
# minutes there on purpose.
suits() {
    case $1:$2 in
        bfs:* | sssp:*) true ;;
        apsp:repeated-sssp) (($3 <= 5000)) ;;
        *) (($3 <= 16000)) ;;
    esac
}

# Solves a problem by an algorithm for a file, and says in one line of the log how that went.
solve() {
    local log=$1 problem=$2 algorithm=$3 file=$4 options said verdict=FAILED
    about "$file"
    case $problem in
        bfs) options=(--weights unit --source "$source" --predecessors) ;;
        sssp) options=("${lengths[@]}" --source "$source" --predecessors) ;;
        apsp) options=("${lengths[@]}") ;;
        closure) options=(--weights unit) ;;
    esac
    # Each has its share of the device, however many there are at once.
    said=$(timeout 900 ./warpath "$problem" "$file" "${reading[@]}" "${options[@]}" --engine cuda --algorithm "$algorithm" \
        --memory 8G --verify --json 2>&1) && [[ $said == *'"verified":true'* ]] && verdict=ok
    printf '%s\n' "$verdict $problem $algorithm ${file##*/}: ${said//$'\n'/ }" >>"$log"
}

if ! ./warpath devices | grep '^ *cuda:'; then
    echo "there is no GPU that Warpath can use: nothing is tested" >&2
    exit 1
fi

if [[ " $parts " == *" tests "* ]]; then
    attempt "tests of the CUDA engine" ./warpath-tests cuda
    # It leaves a process in which nothing works any more.
    attempt "a device that fails says so" ./warpath-tests a_ruined_device --ignored
    attempt "no driver is no crash" env CUDA_VISIBLE_DEVICES= ./warpath bfs kron:10 --source 0 --verify
fi

if [[ " $parts " == *" restart "* ]]; then
    # Killed when the first states have been kept, gone on with, and compared with a run that was left alone. Several
    # devices write what one does.
    folder=$(mktemp -d -p .)
    restarted() {
        local apsp="./warpath apsp uniform:14 --weights random:1..50 --engine $1 --memory 400M"
        local strips="--algorithm tiled-floyd-warshall:cell-bits=32,keep-seconds=0"
        [[ -e $folder/whole.npy ]] || $apsp $strips --output "$folder/whole.npy" || return 1
        $apsp $strips --output "$folder/killed.npy" &
        local victim=$!
        until [[ -e $folder/killed.npy.partial.state ]]; do
            kill -0 $victim || return 1
            sleep 0.1
        done
        sleep "${KILL_AFTER:-2}"
        kill -9 $victim || return 1
        wait $victim
        $apsp $strips --output "$folder/killed.npy" --resume --statistics --json >"$folder/said.json" || return 1
        cat "$folder/said.json"
        cmp "$folder/whole.npy" "$folder/killed.npy" || return 1
        python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["statistics"]["stages_before"] == 0)' <"$folder/said.json"
    }
    attempt "killed and gone on with" restarted cuda
    cat "$logs/killed-and-gone-on-with.log"
    if (($(./warpath devices | grep -c '^ *cuda:') > 1)); then
        attempt "killed and gone on with by all devices" restarted cuda:all
        cat "$logs/killed-and-gone-on-with-by-all-devices.log"
    fi
    rm -r "$folder"
fi

if [[ " $parts " == *" graphs "* ]]; then
    if [[ ! -d ${GRAPHS_FOLDER:-} ]]; then
        row graphs skipped "GRAPHS_FOLDER names no folder"
    else
        export -f about solve
        declare -A count=()
        for file in "$GRAPHS_FOLDER"/*; do
            [[ $file == *.md ]] || count[$file]=$(vertices "$file")
            if [[ ${count[$file]-0} == "" ]]; then
                row "graphs: ${file##*/}" FAILED "it can't be read"
                failed=1
                unset "count[$file]"
            fi
        done
        for problem in bfs sssp apsp closure; do
            log="$logs/graphs-$problem.log" start=$SECONDS
            : >"$log"
            # Triples of problem, algorithm and file.
            wanted=()
            for algorithm in $(algorithms $problem); do
                for file in "${!count[@]}"; do
                    suits $problem "$algorithm" "${count[$file]}" && wanted+=("$problem" "$algorithm" "$file")
                done
            done
            ((${#wanted[@]} == 0)) || printf '%s\0' "${wanted[@]}" |
                xargs -0 -n 3 -P "${JOBS:-6}" bash -c 'solve "$@"' solve "$log"
            went_well=$(grep -c '^ok ' "$log")
            if ((went_well > 0 && went_well * 3 == ${#wanted[@]})); then
                row "graphs: $problem" ok "$went_well ok, $((SECONDS - start)) s"
            elif ((${#wanted[@]} == 0)) && [[ $problem == apsp || $problem == closure ]]; then
                row "graphs: $problem" skipped "no file is small enough"
            else
                row "graphs: $problem" FAILED "$went_well of $((${#wanted[@]} / 3)) ok, see $log"
                grep '^FAILED ' "$log" | cut -c 1-250
                failed=1
            fi
        done
    fi
fi

if [[ " $parts " == *" sanitizers "* ]]; then
    sanitizer=${SANITIZER:-$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)}
    if [[ -z $sanitizer ]]; then
        row compute-sanitizer FAILED "there is none on this machine"
        failed=1
    else
        for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
            for problem in bfs sssp; do
                for algorithm in $(algorithms $problem); do
                    for graph in kron:10 grid:24x40; do
                        attempt "$tool $problem $algorithm $graph" "$sanitizer" --tool "$tool" --error-exitcode 1 \
                            --launch-timeout 120 ./warpath "$problem" "$graph" --weights random:1..50 --source 0 --verify \
                            --predecessors --engine cuda --algorithm "$algorithm"
                    done
                done
            done
            # 300 vertices, and 1,025: no multiples of any tile.
            for algorithm in $(algorithms apsp); do
                attempt "$tool apsp $algorithm" "$sanitizer" --tool "$tool" --error-exitcode 1 --launch-timeout 120 \
                    ./warpath apsp grid:15x20 --weights random:1..50 --verify --engine cuda --algorithm "$algorithm"
            done
            # In strips that stay, and that come and go, and on all devices.
            for where in cuda,100M cuda,4500K cuda:all,100M; do
                attempt "$tool apsp in strips, $where" "$sanitizer" --tool "$tool" --error-exitcode 1 --launch-timeout 120 \
                    ./warpath apsp grid:25x41 --weights random:1..50 --verify --engine "${where%,*}" --memory "${where#*,}" \
                    --algorithm tiled-floyd-warshall:strip=128,cell-bits=32
            done
            attempt "$tool apsp with successors" "$sanitizer" --tool "$tool" --error-exitcode 1 --launch-timeout 120 \
                ./warpath apsp grid:15x20 --weights random:1..50 --verify --engine cuda --successors --output "$logs/successors.csv"
            for algorithm in $(algorithms closure); do
                attempt "$tool closure $algorithm" "$sanitizer" --tool "$tool" --error-exitcode 1 --launch-timeout 120 \
                    ./warpath closure uniform:8,edges-per-vertex=1 --engine cuda --algorithm "$algorithm" --verify
            done
        done
    fi
fi

if [[ " $parts " == *" bench "* ]]; then
    # What every search answers is checked there.
    attempt "bench" ./warpath-bench kron:16 kron:20 uniform:20 grid:1000x1000 ${GRAPHS:-}
    cat "$logs/bench.log"
    attempt "bench of all pairs" ./warpath-bench --problem apsp dense:1000 dense:4096 dense:16384
    cat "$logs/bench-of-all-pairs.log"
    attempt "bench of all pairs in strips" ./warpath-bench --problem apsp uniform:14 --memory 400000000 \
        --algorithm tiled-floyd-warshall:cell-bits=32
    cat "$logs/bench-of-all-pairs-in-strips.log"
    attempt "bench of all pairs by searches" \
        ./warpath-bench --problem apsp --into facts --algorithm batched kron:12 kron:16 uniform:13
    cat "$logs/bench-of-all-pairs-by-searches.log"
    attempt "bench of all pairs by weights" \
        ./warpath-bench --problem apsp --into matrix --weights 1..100 --algorithm batched uniform:13
    cat "$logs/bench-of-all-pairs-by-weights.log"
    attempt "bench of many sources" ./warpath-bench --sources 256 kron:16 uniform:18 grid:300x300
    cat "$logs/bench-of-many-sources.log"
    attempt "bench by weights" ./warpath-bench --problem sssp --predecessors --weights 1..255 kron:16 kron:20 uniform:20 grid:1000x1000
    cat "$logs/bench-by-weights.log"
    attempt "bench of many sources by weights" \
        ./warpath-bench --problem sssp --weights 1..255 --sources 256 kron:16 uniform:13 grid:300x300
    cat "$logs/bench-of-many-sources-by-weights.log"
fi

printf '%s\n' "${rows[@]}"
exit $failed
