# shellcheck shell=bash disable=SC2034  # the sourcing scripts use the lists
# The shared parts of test, fuzz, demo and papers: packages, environment, set-up, compilation.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced, not run. Nothing here writes outside the clone, except apt.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
# The system's own Python: one of pyenv or /usr/local does not see Debian's packages.
python=/usr/bin/python3

# The names are Debian 12's; Debian 13 has the same.
# The packages that the plugin alone is built with.
plugin_packages=(
  g++ meson ninja-build pkg-config python3
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libhwy-dev libtbb-dev libjpeg62-turbo-dev
)
build_packages=(
  "${plugin_packages[@]}" build-essential git
  gobject-introspection libgirepository1.0-dev # libgstcoef's typelib
)
# The packages of the demo's pipelines: PNG, JPEG, AVI and others.
picture_packages=(
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  python3-gi python3-gst-1.0 python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
)
# The decoders of all other files: installed for the demo when a file needs them.
codec_packages=(gstreamer1.0-libav gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)
# The packages of the pipelines in the tests and the documentation.
run_packages=("${picture_packages[@]}" "${codec_packages[@]}")
test_packages=(libgtest-dev libjpeg-turbo-progs ffmpeg netpbm libopenjp2-tools)
# The tests' other packages on this machine, not needed in a chroot.
host_test_packages=(
  libturbojpeg0-dev # tests/conformance: numbers, which are the same everywhere
  libbenchmark-dev libavcodec-dev libavutil-dev # what the CPU engine's speed is compared with
  valgrind clang-format shellcheck
  python3-matplotlib # pictures of benchmarks
  mmdebstrap         # makes the chroot
  python3-pip python3-setuptools python3-venv # the wheel of python/
  mypy                                        # and its types
  libimage-exiftool-perl # a judge of files of several pictures
)
demo_packages=("${plugin_packages[@]}" "${picture_packages[@]}" python3-pil python3-matplotlib)
papers_packages=(
  "${plugin_packages[@]}" libgtest-dev libbenchmark-dev libturbojpeg0-dev python3-numpy python3-pil
  python3-matplotlib
)
fuzz_packages=(clang cmake) # cmake: for libjpeg-turbo, instrumented

# clang's run-time libraries, including libFuzzer, have a package for each version of clang.
clang_runtime_package() {
  local version
  version=$(clang -dumpversion) && printf 'libclang-rt-%s-dev\n' "${version%%.*}"
}

say() { printf '== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Files meant for the home directory go into the build directory. The build directories share the
# images that nvcc compiles (cuda/compile_image.py). ccache accepts precompiled headers only if they
# may define macros and know the time. Debian's tools (meson among them) start with "env python3".
use_private_environment() {
  local cache=$root/build/private
  mkdir -p "$cache/tmp" "$cache/runtime"
  chmod 700 "$cache/runtime"
  export XDG_CACHE_HOME=$cache XDG_CONFIG_HOME=$cache XDG_DATA_HOME=$cache TMPDIR=$cache/tmp \
    XDG_RUNTIME_DIR=$cache/runtime MPLCONFIGDIR=$cache/matplotlib CUDA_CACHE_PATH=$cache/nv \
    CUDATRANSFORM_IMAGE_CACHE=$cache/images GST_REGISTRY=$cache/gstreamer-registry.bin \
    CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros} PYTHONDONTWRITEBYTECODE=1 \
    PATH=/usr/bin:$PATH
}

# run_long LOG WHAT COMMAND...: runs the command with its output in LOG, reports its progress every
# few seconds, and shows the end of the log when it fails.
run_long() {
  local log=$1 what=$2 pid started=$SECONDS status=0
  shift 2
  mkdir -p "$(dirname "$log")"
  say "$what"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  # A background command ignores the interrupt key by itself.
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  local next=$((SECONDS + 10))
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ((SECONDS >= next)) || continue
    next=$((SECONDS + 10))
    printf '   %3d s  %s\n' "$((SECONDS - started))" "$(last_line "$log")"
  done
  wait "$pid" || status=$?
  trap - INT TERM
  ((status == 0)) || { echo "--- the end of $log:"; tail -n 40 "$log"; }
  return "$status"
}

last_line() { tail -c 400 "$1" | tr '\r' '\n' | grep -a '[[:alnum:]]' | tail -n 1 | cut -c 1-100; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null ||
    die "installing packages needs root or sudo; ask an administrator for: apt-get install $missing"
  sudo "$@"
}

# install_packages NAME...: installs missing packages through apt.
install_packages() {
  command -v dpkg-query >/dev/null ||
    { say "No dpkg here: taking it that the equivalents of these are installed: $*"; return; }
  local installed name
  installed=" $(dpkg-query -W -f '${db:Status-Status}/${Package} ' | tr '\n' ' ')"
  missing=
  for name in "$@"; do
    [[ $installed == *" installed/$name "* ]] || missing+="$name "
  done
  [ -n "$missing" ] || return 0
  say "Installing $missing"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  run_long "$build/private/apt-update.log" "Reading apt's package lists" \
    as_root "${apt[@]}" update || die "apt-get update failed"
  # shellcheck disable=SC2086  # a list of words
  run_long "$build/private/apt-install.log" "Installing with apt" \
    as_root "${apt[@]}" install --no-install-recommends $missing || die "apt-get install failed"
}

# The nvcc that meson would find; nothing without one.
find_nvcc() {
  local nvcc
  for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    if [ -x "$nvcc" ]; then printf '%s\n' "$nvcc"; return; fi
  done
}

# unpack FOLDER PACKAGE: takes the files of a package out of its archive, without installing it.
# shellcheck disable=SC2317  # run_long calls it
unpack() {
  rm -rf "$1" && mkdir -p "$1" && cd "$1" || return
  apt-get -q download "$2" || { as_root apt-get -q -y update && apt-get -q download "$2"; } || return
  dpkg-deb -x ./*.deb "$1" && rm ./*.deb
}

# GStreamer's CUDA headers: their package depends on OpenCV, so we take them out of its archive
# unless it is installed.
headers_package=libgstreamer-plugins-bad1.0-dev
headers_library=libgstreamer-plugins-bad1.0-0

# The folder of those headers for the installed library; nothing if they are the system's.
headers_folder() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$headers_package" 2>/dev/null || true)
  [[ $installed != installed\ * ]] || return 0
  installed=$(dpkg-query -W -f '${Version}' "$headers_library" 2>/dev/null || true)
  [ -z "$installed" ] || printf '%s\n' "$root/build/gstcuda/$installed"
}

# Does nothing without nvcc.
fetch_cuda_headers() {
  local folder
  [ -n "$(find_nvcc)" ] || return 0
  install_packages "$headers_library"
  folder=$(headers_folder)
  if [ -z "$folder" ] || [ -d "$folder/pkgconfig" ]; then return 0; fi
  run_long "$build/private/headers.log" "Fetching GStreamer's CUDA headers: $headers_package" \
    unpack_cuda_headers "$folder" || die "the CUDA headers cannot be fetched; install $headers_package"
}

# The package's pkg-config file, but with its paths; the library itself is the system's.
# shellcheck disable=SC2317  # run_long calls it
unpack_cuda_headers() {
  unpack "$1" "$headers_package=${1##*/}" &&
    ln -sf "$(dpkg-query -L "$headers_library" | grep '/libgstcuda-1\.0\.so\.0$')" \
      "$1/libgstcuda-1.0.so" &&
    mkdir "$1/unfinished" &&
    sed -e "s|^prefix=.*|prefix=$1/usr|" -e "s|^libdir=.*|libdir=$1|" \
      "$(find "$1/usr/lib" -name gstreamer-cuda-1.0.pc)" >"$1/unfinished/gstreamer-cuda-1.0.pc" &&
    mv "$1/unfinished" "$1/pkgconfig"
}

# Leaves the default photograph at $photo: lossless, so that it contains no earlier JPEG block grid,
# CC0, and odd in width.
fetch_photo() {
  local path=usr/lib/python3/dist-packages/imageio/resources/images/chelsea.png
  for photo in "/$path" "$build/photo/$path"; do [ ! -f "$photo" ] || return 0; done
  run_long "$build/private/photo.log" "Fetching a photograph: Debian's package python3-imageio" \
    unpack "$build/photo" python3-imageio
}

# Options of every set-up: the GPU architectures to compile for, and the folder of test pictures.
common_options() {
  local archs=${CUDATRANSFORM_CUDA_ARCHS:-} data=${CUDATRANSFORM_TEST_DATA:-}
  [ "$archs" ] || [ "${CI:-}" != true ] || archs=sm_90
  [ "$archs" ] || archs=$(machine_archs)
  [ "$data" ] || [ ! -f "$root/../shared/data/images/barbara.pgm" ] ||
    data=$(realpath "$root/../shared/data")
  printf '%s\n' "-Dcuda-archs=$archs" "-Dtest-data=$data"
}

# The architectures of the cards in the machine. If nvcc knows none of them, those of
# archs_without_card: PTX, which runs on every card from Turing on.
archs_without_card=compute_75
machine_archs() {
  local nvcc known capability archs=
  nvcc=$(find_nvcc)
  known=" $([ -z "$nvcc" ] || "$nvcc" --list-gpu-code 2>/dev/null | tr '\n' ' ') "
  # If the driver is broken, nvidia-smi prints that in place of the numbers.
  for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    grep -x '[0-9]*\.[0-9]' | sort -u); do
    [[ $known != *" sm_${capability/./} "* ]] || archs+=sm_${capability/./},
  done
  archs=${archs%,}
  printf '%s\n' "${archs:-$archs_without_card}"
}

# build_project DIR OPTION...: sets DIR up once, and again after changes of options, nvcc or
# packages (meson does not look again for what it once missed). Compiles all changes, or only the
# targets in build_goals.
build_goals=()
# Options of every build directory: alike in all tools, so that none compiles what another one has.
build_options=(-Dwerror=true -Dbench=disabled -Demulator=disabled)
build_project() {
  local dir=$1 name=${1##*/} wanted options headers
  headers=$(headers_folder)
  shift
  mapfile -t options < <(common_options)
  # The folders that meson searches first for pkg-config files.
  options+=("-Dpkg_config_path=${headers:+$headers/pkgconfig:}${PKG_CONFIG_PATH:-}"
    "${build_options[@]}" "$@")
  wanted="${options[*]} nvcc=$(find_nvcc) packages=$(dpkg-query -W 2>/dev/null | cksum)"
  if [ ! -f "$dir/build.ninja" ]; then
    run_long "$dir/private/setup.log" "Setting up $name/" \
      meson setup "${options[@]}" "$dir" "$root" || return
  elif [ "$(cat "$dir/private/options" 2>/dev/null)" != "$wanted" ]; then
    run_long "$dir/private/setup.log" "Setting up $name/ again: options or packages have changed" \
      meson setup --reconfigure "${options[@]}" "$dir" "$root" || return
  fi
  printf '%s\n' "$wanted" >"$dir/private/options"
  run_long "$dir/private/compile.log" "Compiling in $name/ (minutes the first time)" \
    ninja -C "$dir" "${build_goals[@]}"
}
