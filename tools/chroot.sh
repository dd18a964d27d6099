# shellcheck shell=bash disable=SC2154  # what lib.sh and the sourcing script define
# A Debian of another release in a folder of the build directory: makes it, and runs commands there.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced after lib.sh. Mounts are made in a separate mount namespace: they end with the command, so
# deleting the folder deletes nothing else.

# The namespace of in_chroot: root's own, or a user namespace that may mount; fails without one.
find_namespace() {
  for namespace in 'unshare --mount' 'unshare --user --map-root-user --mount'; do
    # shellcheck disable=SC2086  # a list of words
    ! $namespace sh -c 'mount --rbind /dev /dev && chroot / true' 2>/dev/null || return 0
  done
  return 1
}

# Prints the reason why no chroot can be made here, if there is one.
why_no_chroot() {
  if [ "$(id -u)" -ne 0 ]; then
    echo 'a chroot needs root'
  elif ! command -v mmdebstrap >/dev/null; then
    echo 'there is no mmdebstrap'
  elif ! find_namespace; then
    echo 'chroot or mounts are not permitted here'
  fi
}

# debian_mirror RELEASE: the machine's own mirror if it has the release, else Debian's; nothing if
# neither can be reached.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016  # apt's own variables
  for mirror in $(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' \
    2>/dev/null | sed -n 's/^Debian //p' | sort -u) http://deb.debian.org/debian; do
    if /usr/lib/apt/apt-helper -qq download-file "${mirror%/}/dists/$1/InRelease" \
      "$build/private/InRelease" >/dev/null 2>&1; then
      printf '%s\n' "${mirror%/}"
      return
    fi
  done
}

# The architectures of the next chroot: the machine's own, and others whose libraries it needs.
chroot_architectures=$(dpkg --print-architecture 2>/dev/null || true)

# make_chroot DIR RELEASE PACKAGE...: makes DIR/root, or keeps it if it was made of the same
# packages. Status 3: the last line says why there cannot be one.
make_chroot() {
  local dir=$1 release=$2 wanted mirror settings
  shift 2
  wanted="$release $chroot_architectures $*"
  [ "$(cat "$dir/private/chroot" 2>/dev/null)" != "$wanted" ] || return 0
  mirror=$(debian_mirror "$release")
  [ -n "$mirror" ] || { echo "no mirror with Debian's $release can be reached" && return 3; }
  rm -rf --one-file-system "$dir/root" "$dir/private/chroot"
  mkdir -p "$dir/private"
  # Proxies and the like: the chroot needs them as much as this machine.
  mapfile -t settings < <(apt-config dump | sed -nE 's/^Acquire::https?::/--aptopt=&/p')
  mmdebstrap --mode=root --variant=apt "--architectures=$chroot_architectures" \
    "--include=$(IFS=,; echo "$*")" '--aptopt=APT::Install-Recommends "false"' \
    '--aptopt=Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
    --dpkgopt=path-exclude=/usr/share/{doc,man,locale}/'*' \
    "${settings[@]}" "$release" "$dir/root" "$mirror" || return 1
  printf '%s\n' "$wanted" >"$dir/private/chroot"
}

# The folder of the CUDA toolkit whose nvcc meson would find; nothing without one, or if it is
# scattered over /usr. nvcc itself knows its folder; the file in PATH may be a script that calls it.
cuda_toolkit() {
  local nvcc toolkit
  nvcc=$(find_nvcc)
  [ -n "$nvcc" ] || return 0
  toolkit=$("$nvcc" --dryrun -x cu - -o /dev/null </dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' || true)
  toolkit=$(realpath -q "$toolkit" || true)
  [ "$toolkit" = /usr ] || printf '%s\n' "$toolkit"
}

# Replaces DIR/root/src by the files of the clone that git tracks or does not ignore.
copy_sources() {
  local target=$1/root/src
  rm -rf --one-file-system "$target"
  mkdir -p "$target"
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --ignore-failed-read --warning=no-failed-read --null -T - -cf - |
    tar -C "$target" -xf -
}

# in_chroot DIR COMMAND...: runs it in DIR/root. The command sees the CUDA toolkit if `toolkit` has
# its folder, the images that nvcc need not compile again in `chroot_images`, and only the
# environment variables about testing.
toolkit='' chroot_images=''
in_chroot() {
  local dir=$1 name environment
  shift
  environment=(PATH=/usr/local/cuda/bin:/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C.UTF-8
    PYTHONDONTWRITEBYTECODE=1 "CUDATRANSFORM_IMAGE_CACHE=$chroot_images")
  for name in CI CUDATRANSFORM_REQUIRE_GPU CUDATRANSFORM_TEST_QUICK; do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
  done
  find_namespace
  # shellcheck disable=SC2016,SC2086  # expanded there; a list of words
  $namespace sh -c '
    chroot=$1 toolkit=$2
    shift 2
    for folder in proc dev; do mount --rbind "/$folder" "$chroot/$folder" || exit; done
    mkdir -p "$chroot/usr/local/cuda"
    [ -z "$toolkit" ] || mount --bind "$toolkit" "$chroot/usr/local/cuda" || exit
    exec chroot "$chroot" "$@"' sh "$dir/root" "$toolkit" /usr/bin/env -i "${environment[@]}" "$@"
}
