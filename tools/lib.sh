# shellcheck shell=bash disable=SC2034  # the sourcing scripts use the lists
# The shared parts of the tools: packages, environment, set-up, compilation, Debians of other
# releases.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced, not run. Nothing here writes outside the clone, except apt.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
# The system's own Python: one of pyenv or /usr/local does not see Debian's packages.
python=/usr/bin/python3

# Packages, by the names of Debian 12; Debian 13 has the same. What the plugin alone is built with:
plugin_packages=(g++ meson ninja-build pkg-config python3 libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev libhwy-dev libtbb-dev libjpeg62-turbo-dev)
# libgstcoef's typelib, too.
build_packages=("${plugin_packages[@]}" build-essential git
  gobject-introspection libgirepository1.0-dev)
# The demo's pipelines: PNG, JPEG, AVI and others.
picture_packages=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  python3-gi python3-gst-1.0 python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0)
# The decoders of all other files: installed for the demo when a file needs them.
codec_packages=(gstreamer1.0-libav gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)
# The pipelines in the tests and the documentation.
run_packages=("${picture_packages[@]}" "${codec_packages[@]}")
test_packages=(libgtest-dev libturbojpeg0-dev libjpeg-turbo-progs ffmpeg netpbm libopenjp2-tools
  python3-pil)
# The tests' other packages on this machine, not needed in a chroot.
host_test_packages=(
  libbenchmark-dev libavcodec-dev libavutil-dev # what the CPU engine's speed is compared with
  valgrind clang-format shellcheck mmdebstrap python3-matplotlib # pictures of benchmarks
  python3-pip python3-setuptools python3-venv mypy # the wheel of python/, and its types
  libimage-exiftool-perl # a judge of files of several pictures
)
demo_packages=("${plugin_packages[@]}" "${picture_packages[@]}" python3-pil python3-matplotlib)
papers_packages=("${plugin_packages[@]}" libgtest-dev libbenchmark-dev libturbojpeg0-dev
  python3-numpy python3-pil python3-matplotlib)
fuzz_packages=(clang cmake) # cmake: for libjpeg-turbo, instrumented

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

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
  local log=$1 pid started=$SECONDS tick=0 status=0
  say "$2"
  mkdir -p "$(dirname "$log")"
  "${@:3}" >"$log" 2>&1 </dev/null &
  pid=$!
  # A background command ignores the interrupt key by itself.
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while sleep 0.2 && kill -0 "$pid" 2>/dev/null; do
    ((++tick % 50)) || printf '   %3d s  %s\n' "$((SECONDS - started))" "$(last_line "$log")"
  done
  wait "$pid" || status=$?
  trap - INT TERM
  ((status == 0)) || { echo "--- the end of $log:"; tail -n 40 "$log"; }
  return "$status"
}

last_line() { tail -c 400 "$1" | tr '\r' '\n' | grep -a '[[:alnum:]]' | tail -n 1 | cut -c 1-100; }

as_root() {
  [ "$(id -u)" -ne 0 ] || { "$@"; return; }
  command -v sudo >/dev/null || die "installing packages needs root or sudo; ask an administrator"
  sudo "$@"
}

# install_packages NAME...: installs missing packages through apt.
install_packages() {
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  command -v dpkg-query >/dev/null ||
    { say "No dpkg here: taking it that the equivalents of these are installed: $*"; return; }
  mapfile -t missing < <(printf '%s\n' "$@" | grep -vxF "$(
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')")
  ((${#missing[@]})) || return 0
  say "Installing ${missing[*]}"
  run_long "$build/private/apt-update.log" "Reading apt's package lists" "${apt[@]}" update ||
    die "apt-get update failed"
  run_long "$build/private/apt-install.log" "Installing with apt" \
    "${apt[@]}" install --no-install-recommends "${missing[@]}" || die "apt-get install failed"
}

# The nvcc that meson would find; nothing without one.
find_nvcc() {
  command -v nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc | sed -n 1p || true
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
  dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' \
    "$headers_package" "$headers_library" 2>/dev/null | awk -v folder="$build/gstcuda/" '
      $1 == "installed" { version = $3; found = found || $2 ~ /-dev$/ }
      END { if (version && !found) print folder version }' || true
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
    ln -s "$(dpkg-query -L "$headers_library" | grep '/libgstcuda-1\.0\.so\.0$')" \
      libgstcuda-1.0.so &&
    sed -e "s|^prefix=.*|prefix=$1/usr|" -e "s|^libdir=.*|libdir=$1|" \
      usr/lib/*/pkgconfig/gstreamer-cuda-1.0.pc >gstreamer-cuda-1.0.pc &&
    mkdir pkgconfig && mv gstreamer-cuda-1.0.pc pkgconfig
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
# Code that no card in the machine can run is not optimized, which takes nvcc most of its time.
common_options() {
  local archs=${CUDATRANSFORM_CUDA_ARCHS:-} nvcc nvcc_args=
  [ "$archs" ] || [ "${CI:-}" != true ] || archs=sm_90
  if [ -z "$archs" ]; then
    archs=$(machine_archs) nvcc=$(find_nvcc)
    [[ $archs != compute_* ]] || ! "${nvcc:-false}" --help | grep -e --Ofast-compile >/dev/null ||
      nvcc_args=--Ofast-compile=mid
  fi
  printf '%s\n' "-Dcuda-archs=$archs" "-Dcuda-args=$nvcc_args" "-Dtest-data=$(test_data)"
}

# The folder of test pictures; nothing without one. One that is named is returned even if it is not
# there, so that its tests fail.
test_data() {
  local data=${CUDATRANSFORM_TEST_DATA:-} neighbor=$root/../shared/data
  [ "$data" ] || [ ! -f "$neighbor/images/barbara.pgm" ] || data=$neighbor
  [ -z "$data" ] || realpath -m "$data"
}

# The architectures of the cards in the machine. If nvcc knows none of them, those of
# archs_without_card: PTX, which runs on every card from Turing on.
archs_without_card=compute_75
machine_archs() {
  local nvcc archs
  nvcc=$(find_nvcc)
  # If the driver is broken, nvidia-smi prints that in place of the numbers.
  archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/sm_\1\2/p' | sort -u |
    grep -xF "$("${nvcc:-false}" --list-gpu-code 2>/dev/null)" | paste -sd,) || true
  printf '%s\n' "${archs:-$archs_without_card}"
}

# build_project DIR OPTION...: sets DIR up once, and again after changes of options, nvcc or
# packages (meson does not look again for what it once missed). Compiles all changes, or only the
# targets in build_goals. If DIR is root/build/ of a chroot, this happens in there.
build_goals=()
# Options of every build directory: alike in all tools, so that none compiles what another one has.
build_options=(-Dwerror=true -Dbench=disabled -Demulator=disabled)
build_project() {
  local dir=$1 source=$root logs=$1/private name=${1#"$root"/} within=() options wanted headers
  headers=$(headers_folder)
  mapfile -t options < <(common_options)
  # The folders that meson searches first for pkg-config files.
  options+=("-Dpkg_config_path=${headers:+$headers/pkgconfig:}${PKG_CONFIG_PATH:-}"
    "${build_options[@]}" "${@:2}")
  if [[ $dir == */root/build ]]; then
    within=(in_chroot "${dir%/root/build}") source=/src dir=/build
  fi
  wanted="${options[*]} nvcc=$(find_nvcc) packages=$(dpkg-query -W 2>/dev/null | cksum)"
  if [ ! -f "$1/build.ninja" ]; then
    run_long "$logs/setup.log" "Setting up $name/" \
      "${within[@]}" meson setup "${options[@]}" "$dir" "$source" || return
  elif [ "$(cat "$logs/options" 2>/dev/null)" != "$wanted" ]; then
    run_long "$logs/setup.log" "Setting up $name/ again: options or packages have changed" \
      "${within[@]}" meson setup --reconfigure "${options[@]}" "$dir" "$source" || return
  fi
  printf '%s\n' "$wanted" >"$logs/options"
  run_long "$logs/compile.log" "Compiling in $name/ (minutes the first time)" \
    "${within[@]}" ninja -C "$dir" "${build_goals[@]}"
}

# A Debian of another release in a folder of the build directory. Mounts are made in a separate mount
# namespace: they end with the command, so deleting the folder deletes nothing else.

# make_chroot DIR RELEASE PACKAGE...: makes DIR/root, or keeps it if it was made of the same
# packages, which may be NAME:ARCHITECTURE; DIR/root/src gets the files of the clone that git tracks
# or does not ignore. Status 77: there cannot be one; the last line says why. A Debian of chroot_arch,
# if that is another architecture, is unpacked and not set up.
chroot_arch=
make_chroot() {
  [ "$(id -u)" -eq 0 ] || { echo 'a chroot needs root'; return 77; }
  command -v mmdebstrap >/dev/null || { echo 'there is no mmdebstrap'; return 77; }
  unshare --mount sh -c 'mount --rbind /dev /dev && chroot / true' ||
    { echo 'chroot or mounts are not permitted here'; return 77; }
  [ "$(cat "$1/private/chroot" 2>/dev/null)" = "${*:2}" ] || bootstrap "$@" || return
  rm -rf --one-file-system "$1/root/src"
  mkdir -p "$1/root/src"
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --ignore-failed-read --warning=no-failed-read --null -T - -cf - |
    tar -C "$1/root/src" -xf -
}

bootstrap() {
  local mirror foreign settings variant=apt
  # The machine's own mirror, or Debian's.
  # shellcheck disable=SC2016  # apt's own variables
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's|^Debian \(.*[^/]\)/*$|\1|p' | sort -u | sed -n 1p)
  mirror=${mirror:-http://deb.debian.org/debian}
  /usr/lib/apt/apt-helper -qq download-file "$mirror/dists/$2/InRelease" \
    "$build/private/InRelease" || { echo "$mirror has no $2, or cannot be reached"; return 77; }
  rm -rf --one-file-system "$1/root" "$1/private/chroot"
  mkdir -p "$1/private"
  foreign=$(printf '%s\n' "${@:3}" | sed -n 's/.*:/,/p' | sort -u | tr -d '\n')
  # Proxies and the like: the chroot needs them as much as this machine.
  mapfile -t settings < <(apt-config dump | sed -nE 's/^Acquire::https?::/--aptopt=&/p')
  [ -z "$chroot_arch" ] || variant=extract
  mmdebstrap --mode=root --variant=$variant \
    "--architectures=${chroot_arch:-$(dpkg --print-architecture)}$foreign" \
    "--include=$(IFS=,; echo "${*:3}")" '--aptopt=APT::Install-Recommends "false"' \
    '--aptopt=Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
    --dpkgopt=path-exclude=/usr/share/{doc,man,locale}/'*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    "${settings[@]}" "$2" "$1/root" "$mirror" || return 1
  printf '%s\n' "${*:2}" >"$1/private/chroot"
}

# The folder of the CUDA toolkit whose nvcc meson would find; nothing without one, or if it is
# scattered over /usr. nvcc itself knows its folder; the file in PATH may be a script that calls it.
cuda_toolkit() {
  local nvcc
  nvcc=$(find_nvcc)
  "${nvcc:-false}" --dryrun -x cu - -o /dev/null </dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' |
    xargs -rd '\n' realpath -q | grep -vx /usr || true
}

# in_chroot DIR COMMAND...: runs it in DIR/root. The command sees the CUDA toolkit, the tests' data, a
# folder of images that nvcc need not compile again, and only the environment variables about testing.
chroot_images=/var/cache/cudatransform-images
in_chroot() {
  local variables
  mapfile -t variables < <(env | grep -E '^(CI|CUDATRANSFORM_(REQUIRE_GPU|TEST_QUICK))=')
  # shellcheck disable=SC2016  # expanded there
  unshare --mount bash -c '
    chroot=$1 toolkit=$2 data=$3
    shift 3
    mkdir -p "$chroot"/{proc,dev,usr/local/cuda} "$chroot$data"
    for folder in proc dev; do mount --rbind "/$folder" "$chroot/$folder" || exit; done
    [ -z "$toolkit" ] || mount --bind "$toolkit" "$chroot/usr/local/cuda" || exit
    [ -z "$data" ] || mount --bind "$data" "$chroot$data" || exit
    exec "$@"' bash "$1/root" "$(cuda_toolkit)" "$(test_data)" /usr/bin/env -i HOME=/tmp \
    PATH=/usr/local/cuda/bin:/usr/sbin:/usr/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
    "CUDATRANSFORM_IMAGE_CACHE=$chroot_images" "${variables[@]}" chroot "$1/root" "${@:2}"
}

# The option cuda of a build in a chroot, where a toolkit that this machine has must be found.
chroot_cuda() { [ -z "$(cuda_toolkit)" ] && echo auto || echo enabled; }

# share_images DIR: gives the chroot DIR/root the images that nvcc has compiled outside.
share_images() {
  mkdir -p "$1/root$chroot_images"
  cp -p "$CUDATRANSFORM_IMAGE_CACHE"/*.{fatbin,ptxas,headers} "$1/root$chroot_images/" || true
}

# Compiles for 64-bit ARM in $arm64_build, in a chroot with Debian's cross compiler. The kernels'
# images do not depend on the host, and of the toolkit's headers we use that of the driver alone.
arm64_build=$build-arm/root/build
build_arm64() {
  make_chroot "$build-arm" bookworm g++ meson ninja-build pkg-config g++-aarch64-linux-gnu \
    qemu-user-static lib{hwy,tbb,gtest,jpeg62-turbo,turbojpeg0}-dev:arm64 || return
  share_images "$build-arm"
  build_project "$arm64_build" --cross-file /src/tools/arm64.cross -Delements=disabled \
    "-Dcuda=$(chroot_cuda)" -Dtest-data=
}
