# shellcheck shell=bash
# Shared by the scripts beside it: messages, packages, configure and build. Sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die() {
    printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Prints the comment at the head of the running script, its help.
usage() { sed -n '2,/^$/ { s/^# \{0,1\}//p; }' "$0"; }

# ---- Packages -------------------------------------------------------------------------------------
# A package counts as there if dpkg knows it or if what it is needed for is found anyway (a newer
# CMake from elsewhere, headers below CMAKE_PREFIX_PATH): only the rest is installed.

has_command() { command -v "$1" >/dev/null 2>&1; }

has_header() {
    local folder
    local IFS=:
    for folder in ${CMAKE_PREFIX_PATH:-} /usr /usr/local; do
        if [ -e "$folder/include/$1" ] || [ -e "$folder/$1" ]; then
            return 0
        fi
    done
    return 1
}

has_cmake() {
    has_command cmake && [ "$(printf '3.25\n%s\n' \
        "$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')" | sort -V | head -n 1)" = 3.25 ]
}

# has_clang_runtime tsan|fuzz
has_clang_runtime() {
    has_command clang++ &&
        find -L "$(clang++ -print-resource-dir)/lib" -name "libclang_rt.$1*.a" 2>/dev/null | grep -q .
}

has_archer() {
    has_command clang++ &&
        [ -e "$(clang++ -print-resource-dir)/../../libarcher.so" ]
}

is_installed() {
    has_command dpkg-query &&
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

# trainer_python: a Python that has scikit-learn and NumPy; the system's may, where another stands before it.
trainer_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy, sklearn' >/dev/null 2>&1; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

# missing_packages PRESET: what this preset (or docs, the reference; or train, kernel models) needs and this
# machine lacks, one a line.
missing_packages() {
    local package probe
    if [ "$1" = docs ]; then # nothing is compiled
        has_command doxygen || echo doxygen
        return 0
    fi
    {
        echo g++ has_command g++
        echo cmake has_cmake
        echo ninja-build has_command ninja
        echo zlib1g-dev has_header zlib.h
        echo libxxhash-dev has_header xxhash.h
        echo libmetis-dev has_header metis.h
        echo libeigen3-dev has_header eigen3/Eigen/Core
        echo doctest-dev has_header doctest/doctest.h
        echo libcli11-dev has_header CLI/CLI.hpp
        echo nlohmann-json3-dev has_header nlohmann/json.hpp
        echo libfmt-dev has_header fmt/format.h
        echo pkgconf has_command pkg-config
        echo python3 has_command python3
        echo file has_command file # CPack makes packages with these two
        echo dpkg-dev has_command dpkg-shlibdeps
        case $1 in default | host | package) # links over MPI are tested with both
            echo libopenmpi-dev has_command mpicxx.openmpi
            echo openmpi-bin has_command mpiexec.openmpi
            echo libmpich-dev has_command mpicxx.mpich
            echo mpich has_command mpiexec.mpich
            ;;
        esac
        if [ "$1" = tsan ] || [ "$1" = fuzz ]; then
            echo clang has_command clang++
            echo libclang-rt-dev has_clang_runtime "$1"
            echo libomp-dev has_archer
        elif [ "$1" = train ]; then
            echo python3-numpy trainer_python
            echo python3-sklearn trainer_python
        elif [ "$1" = package ]; then
            echo help2man has_command help2man
        fi
    } | while read -r package probe; do
        # shellcheck disable=SC2086 # the probe is a command and its arguments
        $probe >/dev/null || { [ "$package" != cmake ] && is_installed "$package"; } || echo "$package"
    done
}

# install_packages PRESET
install_packages() {
    local missing as_root=() apt_options=(-o Acquire::Retries=2 -o Acquire::http::Timeout=30)
    missing=$(missing_packages "$1")
    [ -n "$missing" ] || return 0
    say "Installing packages: $(echo "$missing" | xargs)"
    if has_command apt-get; then
        if [ "$(id -u)" -ne 0 ]; then
            if ! has_command sudo; then
                die "these packages are missing, and there is no sudo to install them: $(echo "$missing" | xargs)"
            fi
            as_root=(sudo)
            [ -t 0 ] || as_root=(sudo -n)
        fi
        as_root+=(env DEBIAN_FRONTEND=noninteractive)
        has_command ccache || missing+=" ccache"
        "${as_root[@]}" apt-get "${apt_options[@]}" -qq update </dev/null ||
            note "the package lists could not be refreshed; trying with those that are here"
        # shellcheck disable=SC2086 # one word a package
        "${as_root[@]}" apt-get "${apt_options[@]}" -qq install -y --no-install-recommends $missing \
            </dev/null || note "apt-get could not install them all"
    fi
    missing=$(missing_packages "$1")
    [ -z "$missing" ] || die "these packages (Debian's and Ubuntu's names) are still missing, and are
needed: $(echo "$missing" | xargs)
Install them, or put their headers below a folder named in CMAKE_PREFIX_PATH; CMake must be 3.25 or newer."
}

# ---- Configure and build --------------------------------------------------------------------------

check_preset() {
    case $1 in
    default | host | asan | tsan | fuzz) ;;
    *) die "unknown preset '$1': allowed are default, host, asan, tsan, fuzz" ;;
    esac
}

# build PRESET TARGET [CMAKE_ARGUMENT...]
build() {
    local preset=$1 target=$2 log=$root/build/$1/configure.log
    shift 2
    mkdir -p "$root/build/$preset"
    say "Configuring ($preset)"
    (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 || {
        cat "$log" >&2
        die "configuring failed; the output is above"
    }
    sed -n 's/^-- krylith: /   /p' "$log"
    say "Building ($preset)"
    (cd "$root" && cmake --build --preset "$preset" --parallel "$jobs" --target "$target")
}

# tools_build FOLDER LOG TARGET... -- CMAKE_ARGUMENT...: a Release build without examples, for scripts that
# measure; the output goes to LOG.
tools_build() {
    local folder=$1 log=$2 targets=() generator=()
    shift 2
    while [ "$1" != -- ]; do
        targets+=("$1")
        shift
    done
    shift
    ! has_command ninja || generator=(-G Ninja)
    {
        cmake -S "$root" -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DKRYLITH_EXAMPLES=OFF "$@" &&
            cmake --build "$folder" --parallel "$jobs" --target "${targets[@]}"
    } >"$log" 2>&1
}

# ---- The machine ----------------------------------------------------------------------------------

# wheel_python: a Python that makes virtual environments, pyenv's among them: 3.12, whose wheel serves newer
# ones, too, or else a newer or older one.
wheel_python() {
    local minor command
    for minor in 12 13 14 15 11 10; do
        for command in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/"python3.$minor"; do
            if "$command" -c 'import ensurepip, venv' 2>/dev/null; then
                echo "$command"
                return
            fi
        done
    done
    echo python3
}

# gpu_count: how many GPUs nvidia-smi lists, 0 without it.
gpu_count() {
    if has_command nvidia-smi; then
        nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true
    else
        echo 0
    fi
}

# without_gpu_code: the CMake argument for builds that show or test what runs here. nvcc takes half of the time
# of a build, and where there is no GPU nothing would run what it makes.
without_gpu_code() {
    if [ "$(gpu_count)" -eq 0 ] && [ -n "$(nvcc_path || true)" ]; then
        note "There is no GPU here: built without code for GPUs; --cuda builds it" >&2
        echo -DKRYLITH_CUDA=OFF
    fi
}

gpu_facts=index,name,driver_version,vbios_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit
gpu_state=index,clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_event_reasons.active

# gpu FIELDS: a line a GPU, nothing where there is none.
gpu() {
    [ "$(gpu_count)" -eq 0 ] || nvidia-smi --query-gpu="$1" --format=csv,noheader 2>&1 || true
}

# write_gpus FILE: names, driver and clocks as they are now; no file where there is no GPU.
write_gpus() {
    [ "$(gpu_count)" -eq 0 ] ||
        nvidia-smi --query-gpu=index,name,driver_version,clocks.current.sm,clocks.current.memory \
            --format=csv >"$1" 2>&1 || true
}

# quoted TEXT: a JSON string.
quoted() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\t'/ }
    printf '"%s"' "${text//$'\n'/\\n}"
}

# lines: standard input as a JSON array of strings.
lines() {
    local line separator=
    printf '['
    while IFS= read -r line; do
        printf '%s%s' "$separator" "$(quoted "$line")"
        separator=', '
    done
    printf ']'
}

nvcc_path() {
    command -v nvcc || { [ ! -x /usr/local/cuda/bin/nvcc ] || echo /usr/local/cuda/bin/nvcc; }
}

# copy_rates REPORT.json...: "cg: 4012.3" for each report's own measurement of a copy, GB/s.
copy_rates() {
    local report
    for report in "$@"; do
        [ -e "$report" ] || continue
        # Rates for auto, which may follow, have the same name.
        sed -n "/^ *\"copy_gb_per_s\"/ { s/^[^:]*: *\([0-9.]*\).*/$(basename "$report" .json): \1/p; q; }" "$report"
    done
}

# write_machine FILE COMMIT STATE_BEFORE REPORT.json...: machine.json. COMMIT is what was measured; empty: the
# checkout's. STATE_BEFORE is what `gpu $gpu_state` said before the measurements.
write_machine() {
    local file=$1 commit=$2 before=$3 nvcc
    shift 3
    nvcc=$(nvcc_path || true)
    [ -n "$commit" ] || commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
    {
        printf '{\n'
        printf '  "date": %s,\n' "$(quoted "$(date -u +%FT%TZ)")"
        printf '  "commit": %s,\n' "$(quoted "$commit")"
        printf '  "kernel": %s,\n' "$(quoted "$(uname -sr)")"
        printf '  "cpu": %s,\n' "$(lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Core|Socket|NUMA node\(s\)|L[123])' | tr -s ' ' | lines)"
        printf '  "memory": %s,\n' "$(quoted "$(sed -n 's/^MemTotal: *//p' /proc/meminfo)")"
        printf '  "compiler": %s,\n' "$(quoted "$(c++ --version 2>/dev/null | head -n 1)")"
        printf '  "nvcc": %s,\n' "$(quoted "$([ -z "$nvcc" ] || "$nvcc" --version | tail -n 1)")"
        printf '  "gpu_fields": %s,\n  "gpus": %s,\n' "$(quoted "$gpu_facts")" "$(gpu $gpu_facts | lines)"
        printf '  "state_fields": %s,\n' "$(quoted "$gpu_state")"
        printf '  "state_before": %s,\n  "state_after": %s,\n' "$(printf '%s' "$before" | lines)" \
            "$(gpu $gpu_state | lines)"
        printf '  "copy_gb_per_s": %s\n' "$(copy_rates "$@" | lines)"
        printf '}\n'
    } >"$file"
}
