#!/usr/bin/env bash
# Tests, hazards, sanitizers and bench on a machine with a GPU, without Rust:
# `run.sh [tests|restart|hazards|graphs|memory|sanitizers|bench]..`, default all. Exits with 1 if anything is wrong.
# Variables: GRAPHS_FOLDER is the folder with files on which every algorithm is verified, PROBLEMS those that are solved
# there, all if not set; JOBS is the number of simultaneous runs; MEMORY is the device memory that searches of the part
# `memory` may take, RECIPES lists the graphs that it generates; HAZARDS lists the hazards to run (dying, which may leave
# a GPU in need of a reset, runs only if named), WARPATH_HAZARD_SECONDS is how long contexts die and memory is taken;
# SANITIZER is the path of compute-sanitizer, TOOLS lists its tools to run; GRAPHS lists more graphs to bench.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for packed in warpath*.gz; do
    [[ ! -e $packed ]] || gunzip -f "$packed" || exit 1
done
chmod +x warpath warpath-tests warpath-bench
logs=${LOGS:-$PWD/logs}
mkdir -p "$logs"
parts=${*:-tests restart hazards graphs memory sanitizers bench}
failed=0
rows=()

# Adds one row to the table: subject, verdict, remark.
row() { rows+=("$(printf '%-44s %-8s %s' "$1" "$2" "$3")"); }

# Runs a command, logs its output, and adds a row with the result.
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

# The algorithms of the CUDA engine for a problem, but for that which makes sums and no distances.
algorithms() {
    ./warpath devices --json | python3 -c '
import json, sys
for found in json.load(sys.stdin)["algorithms"]:
    if found["engine"] == "cuda" and found["problem"] == sys.argv[1] and "as-printed" not in found["name"] and "unsynchronized" not in found["name"] and found["name"] != "level-sums":
        print(found["name"])' "$1"
}

# The same, and those that parameters make other kernels of.
forms() {
    algorithms "$1"
    case $1 in
        bfs)
            printf '%s\n' queue:parents=true singh-bfs:order=true regions:slots=0.02 zero-copy:best-tails=yes \
                many-sources:arcs=host partitioned:best-tails=yes
            ;;
        sssp)
            printf '%s\n' mask:coarsening=4,stride=strided bellman-ford:sync={outcore,incore,shared},edges=records \
                work-efficient:lists=as-described,edges=records,sync={outcore,incore},rounds=timed regions:vertices=64,slots=0.05
            ;;
        apsp) printf '%s\n' katz-kider:block=18 katz-kider:block=18,page=108 \
            hierarchy:shortcuts={fronts,host} zero-copy:short-rows=8 zero-copy:offsets=host ;;
        closure) printf '%s\n' blocked-warshall:block=18 ;;
        # Measures, whose sums and counts are the same on every engine.
        centrality) printf '%s\n' closeness betweenness ;;
    esac
}

# Facts that the files of GRAPHS_FOLDER do not state: how to read them, lengths of their arcs, a vertex to start from.
about() {
    reading=() lengths=(--weights random:0..1000) source=1
    case ${1##*/} in
        luxembourg* | delaunay*) reading=(--format matrix-market) ;;
        Email-Enron*) reading=(--first-line counts) ;;
        USA-road*) lengths=() ;;
        *.as-rel.txt*) source=174 ;;
    esac
}

# The number of vertices of a file.
vertices() {
    about "$1"
    ./warpath info "$1" "${reading[@]}" --weights unit --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["vertices"])'
}

# Whether an algorithm runs on a file with this many vertices. All pairs suit some thousands, where searching from one source after
# another takes minutes on purpose. Regions take no vertices with hundreds of arcs.
suits() {
    case $1:$2 in
        *:regions*) [[ ${4##*/} =~ ^(NW|FLA|BAY|USA-road|luxembourg|delaunay|chesapeake) ]] ;;
        bfs:* | sssp:* | centrality:*) true ;;
        apsp:repeated-sssp | apsp:near-far | apsp:zero-copy* | apsp:floyd-warshall-rows | apsp:katz-kider*) (($3 <= 5000)) ;;
        *) (($3 <= 16000)) ;;
    esac
}

# Solves a problem on a file by an algorithm, and logs the result in one line.
solve() {
    local log=$1 problem=$2 algorithm=$3 file=$4 options said verdict=FAILED
    [[ $problem != centrality ]] || { score "$log" "$algorithm" "$file"; return; }
    about "$file"
    case $problem in
        bfs) options=(--weights unit --source "$source" --predecessors) ;;
        sssp) options=("${lengths[@]}" --source "$source" --predecessors) ;;
        apsp) options=("${lengths[@]}") ;;
        closure) options=(--weights unit) ;;
    esac
    # Each process gets its share of the device, however many run at once.
    said=$(timeout 900 ./warpath "$problem" "$file" "${reading[@]}" "${options[@]}" --engine cuda --algorithm "$algorithm" \
        --memory 8G --verify --json 2>&1) && [[ $said == *'"verified":true'* ]] && verdict=ok
    printf '%s\n' "$verdict $problem $algorithm ${file##*/}: ${said//$'\n'/ }" >>"$log"
}

# The same for a measure: the GPU has to write what the CPU writes.
score() {
    local log=$1 measure=$2 file=$3 folder said engine verdict=ok
    about "$file"
    folder=$(mktemp -d)
    for engine in cuda cpu; do
        options=()
        [[ $measure:$engine != closeness:cuda ]] || options=(--algorithm level-sums)
        said+=$(timeout 900 ./warpath centrality "$file" "${reading[@]}" --weights unit --measure "$measure" --sample 70 \
            --engine $engine "${options[@]}" --output "$folder/$engine.csv" --json 2>&1) || verdict=FAILED
    done
    cmp -s "$folder/cuda.csv" "$folder/cpu.csv" || verdict=FAILED
    rm -r "$folder"
    printf '%s\n' "$verdict centrality $measure ${file##*/}: ${said//$'\n'/ }" >>"$log"
}

# Adds a row with the verdicts of runs, one in each line of a log, of which so many were wanted.
count_verdicts() {
    local name=$1 log=$2 wanted=$3 start=$4 went_well
    went_well=$(grep -c '^ok ' "$log")
    if ((went_well > 0 && went_well == wanted)); then
        row "$name" ok "$went_well ok, $((SECONDS - start)) s"
    else
        row "$name" FAILED "$went_well of $wanted ok, see $log"
        grep -v '^ok ' "$log" | cut -c 1-250
        failed=1
    fi
}

if ! ./warpath devices | grep '^ *cuda:'; then
    echo "there is no GPU that Warpath can use: nothing is tested" >&2
    exit 1
fi
export devices=$(./warpath devices | grep -c '^ *cuda:')

if [[ " $parts " == *" tests "* ]]; then
    # Devices that fail on purpose, and the emulator's own tests, need no GPU.
    attempt "tests of the CUDA engine" env WARPATH_TEST_GPUS_ALONE=1 ./warpath-tests cuda solver \
        --skip cuda::device::failing --skip cuda::device::emulator --skip on_emulators
    # This test ruins its process, so it runs in one of its own.
    attempt "a device that fails says so" ./warpath-tests a_ruined_device --ignored
    attempt "no driver is no crash" env CUDA_VISIBLE_DEVICES= ./warpath bfs kron:10 --source 0 --verify
fi

if [[ " $parts " == *" restart "* ]]; then
    # Kills the run once it has saved its first states, resumes it, and compares with an undisturbed run. Several
    # devices must write the same as one.
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
    attempt "killed and resumed" restarted cuda
    cat "$logs/killed-and-resumed.log"
    if ((devices > 1)); then
        attempt "killed and resumed by all devices" restarted cuda:all
        cat "$logs/killed-and-resumed-by-all-devices.log"
    fi
    rm -r "$folder"
fi

if [[ " $parts " == *" hazards "* ]]; then
    # Outside events that hit a GPU. Under each, a run ends with the right answer, or with exit code 3 and a message.
    folder=$(mktemp -d -p .)
    seq 0 299 >"$folder/sources.txt"
    export folder
    hazards=cuda::device::driver::hazards
    hazard() { timeout -k 10 "$1" ./warpath-tests --ignored --exact --nocapture "$hazards::$2"; }
    # Contexts that die one after another have stopped a GPU's firmware until it was reset (driver 580, Xid 119 and
    # 154): use HAZARDS=dying only on a machine of your own.
    chosen=" ${HAZARDS:-memory beside processes devices} "
    facts() { grep -aE ' times: |died well|trees by engine|^FAILED|panicked' "$logs/$1.log" | cut -c 1-300; }

    # Runs the command and logs how it ended. A run with the automatic choice of engine always has an answer.
    one_run() {
        local log=$1 said code verdict=FAILED
        shift
        said=$(timeout -k 5 60 ./warpath "$@" --verify 2>&1)
        code=$?
        if ((code == 0)) && [[ $said == *verified* ]]; then
            verdict=verified
        elif ((code == 3)) && [[ $said == *" x "* && " $* " != *" auto "* ]]; then
            verdict=refused
        fi
        printf '%s\n' "$verdict $code $*: ${said//$'\n'/ }" >>"$log"
    }
    export -f one_run

    # Adds a row with the results of such runs: how many were verified, how many refused.
    verdicts() {
        local name=$1 log=$2 count
        count="$(grep -ac '^verified ' "$log") verified, $(grep -ac '^refused ' "$log") refused"
        grep -a '^refused ' "$log" | sed 's/.* x / x /' | tr -d '0-9' | sort | uniq -c | sort -rn | head -n 4 | cut -c 1-200
        if grep -aq '^verified ' "$log" && ! grep -aq '^FAILED ' "$log"; then
            row "$name" ok "$count"
        else
            row "$name" FAILED "$count, $(grep -ac '^FAILED ' "$log") failed, see $log"
            grep -a '^FAILED ' "$log" | head -n 8 | cut -c 1-300
            failed=1
        fi
    }

    # Every algorithm, and the automatic choice, on small and medium graphs; the argument is the number of rounds.
    every_run() {
        local problem graph graphs options algorithm times=$1
        while ((times-- > 0)); do
            for problem in bfs sssp apsp closure; do
                graphs=(grid:30x30 uniform:16)
                case $problem in
                    bfs) options="--source 0" ;;
                    sssp) options="--source 0 --weights random:1..50" ;;
                    apsp) options="--weights random:1..50" graphs=(grid:15x20 uniform:10) ;;
                    closure) options="" graphs=(uniform:8,edges-per-vertex=1 uniform:11,edges-per-vertex=1) ;;
                esac
                for graph in "${graphs[@]}"; do
                    for algorithm in $(algorithms $problem); do
                        echo "$problem $graph $options --engine cuda --algorithm $algorithm"
                    done
                    echo "$problem $graph $options --engine auto"
                done
            done
            # With one CPU thread, a GPU is predicted to be faster.
            echo "sssp uniform:14 --sources $folder/sources.txt --threads 1 --engine auto --weights random:1..9"
        done
    }

    if [[ $chosen == *" dying "* ]]; then
        attempt "a context dies" hazard 290 a_context_that_dies_is_an_error
        facts a-context-dies
        attempt "trees go on when a context dies" hazard 90 trees_go_on_when_a_context_dies
        facts trees-go-on-when-a-context-dies
    fi
    if [[ $chosen == *" memory "* ]]; then
        attempt "memory is taken while solving" hazard 240 memory_that_another_program_takes_is_an_error
        facts memory-is-taken-while-solving
    fi
    if [[ $chosen == *" beside "* ]]; then
        log="$logs/beside.log"
        : >"$log"
        WARPATH_HAZARD="11 110" timeout -k 5 120 \
            ./warpath-tests --ignored --exact --nocapture "$hazards::takes_memory" >"$logs/takes-memory.log" 2>&1 &
        hog=$!
        for _ in {1..200}; do
            grep -aq 'took the memory' "$logs/takes-memory.log" && break
            sleep 0.1
        done
        every_run 3 | timeout -k 5 100 xargs -d '\n' -P "${JOBS:-6}" -I{} bash -c 'one_run "$0" $1' "$log" {}
        kill -0 $hog && echo "memory was taken throughout"
        kill $hog
        wait $hog 2>/dev/null
        verdicts "runs while memory is taken" "$log"
    fi
    if [[ $chosen == *" processes "* ]]; then
        # Different problems, two and four at once, must write the same as each alone.
        requests=(
            "bfs kron:17 --source 1 --predecessors --output $folder/NUMBER.bfs.csv"
            "sssp uniform:16 --weights random:1..255 --source 0 --predecessors --output $folder/NUMBER.sssp.csv"
            "apsp uniform:11 --weights random:1..50 --output $folder/NUMBER.apsp.npy"
            "bfs grid:300x300 --source 5 --predecessors --output $folder/NUMBER.grid.csv"
        )
        log="$logs/processes.log"
        : >"$log"
        # The argument is the number of simultaneous runs, which also names the files.
        at_once() {
            local index number request
            for ((index = 0; index < 8; index++)); do
                number=$1-$index
                request=${requests[index % 4]}
                echo "${request/NUMBER/$number} --engine cuda"
            done | timeout -k 5 100 xargs -d '\n' -P "$1" -I{} bash -c 'one_run "$0" $1' "$log" {}
        }
        start=$SECONDS
        for width in 1 2 4; do
            at_once $width
        done
        differ=0
        for index in {0..7}; do
            for width in 2 4; do
                for alone in "$folder/1-$index".*; do
                    cmp "$alone" "${alone/1-$index/$width-$index}" || differ=$((differ + 1))
                done
            done
        done
        if ((differ > 0 || $(grep -ac '^verified ' "$log") != 24)); then
            row "several processes on one GPU" FAILED "$differ of 16 differ, see $log"
            grep -av '^verified ' "$log" | head -n 8 | cut -c 1-300
            failed=1
        else
            row "several processes on one GPU" ok "$(grep -ac '^verified ' "$log") runs, $((SECONDS - start)) s"
        fi
    fi
    if [[ $chosen == *" devices "* ]]; then
        log="$logs/devices.log"
        : >"$log"
        # With these variables, the command must end with one of these codes and print this.
        ends() {
            local wanted=$1 said code verdict=ok
            shift
            said=$(timeout -k 5 60 env "$@" 2>&1)
            code=$?
            if [[ " $wanted " != *" $code "* || $said == *panicked* ]] ||
                { ((code == 0)) && [[ $* != *" devices" && $said != *verified* ]]; }; then
                verdict=FAILED
            fi
            said=$(grep -a -m 1 -E ' x |^ *on cpu|^ *cuda' <<<"$said" | tr -s ' ')
            echo "$verdict $code ${1:0:50} ${*: -2:2}: $said" | tee -a "$log" | cut -c 1-200
        }
        found=(./warpath bfs grid:30x30 --source 0 --verify --verbose --engine)
        for list in "" -1 99 abc GPU-nonsense 0,0 0,99 99999999999999999999; do
            case $list in
                "" | -1) codes=3 ;;
                # The driver decides whether another list names a device.
                *) codes="0 3" ;;
            esac
            ends "$codes" "CUDA_VISIBLE_DEVICES=$list" "${found[@]}" cuda
            ends 0 "CUDA_VISIBLE_DEVICES=$list" "${found[@]}" auto
            ends 0 "CUDA_VISIBLE_DEVICES=$list" ./warpath devices
        done
        ends "0 3" CUDA_DEVICE_ORDER=nonsense "${found[@]}" cuda
        ends 0 CUDA_DEVICE_ORDER=nonsense "${found[@]}" auto
        ends 3 NOTHING= "${found[@]}" cuda:7
        ends 3 CUDA_VISIBLE_DEVICES=0 "${found[@]}" cuda:0,1
        if grep -aq '^FAILED' "$log"; then
            row "devices that are not there" FAILED "see $log"
            failed=1
        else
            row "devices that are not there" ok "$(grep -ac '^ok' "$log") runs"
        fi
    fi
    rm -r "$folder"
fi

if [[ " $parts " == *" graphs "* ]]; then
    if [[ ! -d ${GRAPHS_FOLDER:-} ]]; then
        row graphs skipped "GRAPHS_FOLDER names no folder"
    else
        export -f about solve score
        declare -A count=()
        for file in "$GRAPHS_FOLDER"/*; do
            [[ $file == *.md ]] || count[$file]=$(vertices "$file")
            if [[ ${count[$file]-0} == "" ]]; then
                row "graphs: ${file##*/}" FAILED "it can't be read"
                failed=1
                unset "count[$file]"
            fi
        done
        for problem in ${PROBLEMS:-bfs sssp apsp closure centrality}; do
            log="$logs/graphs-$problem.log" start=$SECONDS
            : >"$log"
            # Triples of problem, algorithm and file.
            wanted=()
            for algorithm in $(forms $problem); do
                for file in "${!count[@]}"; do
                    suits $problem "$algorithm" "${count[$file]}" "$file" && wanted+=("$problem" "$algorithm" "$file")
                done
            done
            ((${#wanted[@]} == 0)) || printf '%s\0' "${wanted[@]}" |
                xargs -0 -n 3 -P "${JOBS:-6}" bash -c 'solve "$@"' solve "$log"
            if ((${#wanted[@]} == 0)) && [[ $problem == apsp || $problem == closure ]]; then
                row "graphs: $problem" skipped "no file is small enough"
            else
                count_verdicts "graphs: $problem" "$log" $((${#wanted[@]} / 3)) $start
            fi
        done
    fi
fi

if [[ " $parts " == *" memory "* ]]; then
    # Searches with less memory than their graphs take, and on all devices: what `--engine cuda` chooses is verified on the host.
    recipes="kron:21 uniform:21 grid:2500x2500 roads:5000000 rgg:22 scale-free:21 crawl:4000000 dense:9000"
    # A search on devices, of a problem, with this memory; the rest are a graph and how to read it.
    search() {
        local log=$1 where=$2 problem=$3 memory=$4 said verdict=FAILED options
        shift 4
        about "$1"
        [[ -e $1 ]] || { reading=() lengths=(--weights random:0..1000) source=1; }
        case $problem in
            bfs) options=(--weights unit --source "$source" --predecessors) ;;
            sssp) options=("${lengths[@]}" --source "$source" --predecessors) ;;
            closure) options=(--weights unit) ;;
        esac
        said=$(timeout 300 ./warpath "$problem" "$1" "${reading[@]}" "${options[@]}" --engine "$where" --memory "$memory" \
            --verify --json 2>&1) && [[ $said == *'"verified":true'* ]] && verdict=ok
        printf '%s\n' "$verdict $problem $where $memory ${1##*/}: ${said//$'\n'/ }" >>"$log"
    }
    export -f about search
    wheres=(cuda)
    ((devices == 1)) || wheres+=(cuda:all)
    for where in "${wheres[@]}"; do
        log="$logs/memory-${where/:/-}.log" start=$SECONDS wanted=()
        : >"$log"
        for problem in bfs sssp; do
            # Less for files, of which most are smaller than that.
            for memory in ${MEMORY:-256M 8M}; do
                for graph in "${GRAPHS_FOLDER:+$GRAPHS_FOLDER/}"* ${RECIPES:-$recipes}; do
                    [[ $graph == *.md || ($graph != *:* && ! -f $graph) || (-z ${GRAPHS_FOLDER:-} && $graph != *:*) ]] ||
                        [[ $graph == *:* && $memory == *[0-9]M && ${memory%M} -lt 100 ]] ||
                        wanted+=("$where $problem $memory $graph")
                done
            done
        done
        # Matrices in strips: of vertices, and of components, which are a triangle.
        for memory in 64M 8G; do
            wanted+=("$where closure $memory crawl:20000,arcs=2000000" "$where closure $memory crawl:60000,arcs=70000")
        done
        printf '%s\n' "${wanted[@]}" | xargs -d '\n' -P "${JOBS:-6}" -I{} bash -c 'search "$0" $1' "$log" {}
        count_verdicts "larger than its memory, $where" "$log" ${#wanted[@]} $start
        grep -o '"algorithm":"[^"]*"' "$log" | sort | uniq -c
    done
fi

if [[ " $parts " == *" sanitizers "* ]]; then
    export sanitizer=${SANITIZER:-$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)}
    # Runs the command under a tool, on the device whose turn it is where the arguments do not name one.
    checked() {
        local log=$1 tool=$2 where said code verdict=FAILED
        shift 2
        where=(--engine "cuda:$((SLOT % devices))")
        [[ " $* " != *" --engine "* ]] || where=()
        # Sums and counts have no certificate.
        [[ $1 == centrality ]] || where+=(--verify)
        said=$(timeout -k 10 300 "$sanitizer" --tool "$tool" --error-exitcode 1 --launch-timeout 120 \
            ./warpath "$@" "${where[@]}" 2>&1)
        code=$?
        ((code != 0)) || verdict=ok
        printf '%s\n' "$verdict $code $tool $*: ${said//$'\n'/ }" >>"$log"
    }
    export -f checked
    # The arguments of every run.
    checked_runs() {
        local problem algorithm graph where
        for problem in bfs sssp; do
            for algorithm in $(forms $problem); do
                for graph in kron:10 grid:24x40; do
                    # Regions take no vertices with hundreds of arcs.
                    [[ $graph != kron* || $algorithm != regions* ]] || continue
                    echo "$problem $graph --weights random:1..50 --source 0 --predecessors --algorithm $algorithm"
                done
            done
        done
        # One search on all devices.
        for problem in bfs sssp; do
            for algorithm in "partitioned kron:10" "partitioned grid:24x40" "regions grid:24x40"; do
                echo "$problem ${algorithm#* } --weights random:1..50 --source 0 --engine cuda:all --algorithm ${algorithm% *}"
            done
        done
        # 300 and 1,025 vertices: not multiples of any tile. A search from each of 300 vertices, one after another, takes racecheck minutes.
        for algorithm in $(forms apsp); do
            graph=grid:15x20
            case $algorithm in repeated-sssp | near-far | zero-copy*) graph=grid:4x5 ;; esac
            echo "apsp $graph --weights random:1..50 --algorithm $algorithm"
        done
        # By arcs that lead to a vertex, which directed graphs have for themselves.
        for algorithm in "zero-copy:best-tails=yes" "many-sources:arcs=host" "partitioned:best-tails=yes --engine cuda:all"; do
            echo "bfs crawl:1000 --source 0 --predecessors --algorithm $algorithm"
        done
        # In strips that stay on the device, in strips that move in and out, and on all devices.
        for where in cuda:0,100M cuda:0,4500K cuda:all,100M; do
            echo "apsp grid:25x41 --weights random:1..50 --engine ${where%,*} --memory ${where##*,}" \
                "--algorithm tiled-floyd-warshall:strip=128,cell-bits=32"
        done
        echo "apsp grid:15x20 --weights random:1..50 --successors --output $logs/successors.csv"
        # Directed: components of an undirected graph need no kernel.
        for algorithm in $(forms closure); do
            echo "closure crawl:300 --algorithm $algorithm"
        done
        # In strips, of which some come and go. What devices share has more vertices than racecheck has patience for.
        for algorithm in "bit-product --memory 1M" "condensation --memory 1M"; do
            echo "closure crawl:2300,arcs=3000 --algorithm $algorithm"
        done
        for graph in kron:9 crawl:500; do
            for measure in closeness harmonic "closeness --memory 1M"; do
                echo "centrality $graph --weights unit --measure $measure --algorithm level-sums"
            done
            echo "centrality $graph --weights unit --measure betweenness --sample 40"
        done
        echo "centrality kron:9 --weights unit --measure eccentricity --algorithm level-sums"
    }
    if [[ -z $sanitizer ]]; then
        row compute-sanitizer FAILED "there is none on this machine"
        failed=1
    else
        checked_runs >"$logs/checked-runs.txt"
        for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
            log="$logs/$tool.log" start=$SECONDS
            : >"$log"
            xargs -d '\n' -P "${JOBS:-6}" --process-slot-var=SLOT -I{} bash -c 'checked "$0" $1' "$log" "$tool {}" \
                <"$logs/checked-runs.txt"
            count_verdicts "$tool" "$log" "$(wc -l <"$logs/checked-runs.txt")" $start
        done
    fi
fi

if [[ " $parts " == *" bench "* ]]; then
    # The bench checks the answer of every search.
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
