# shellcheck shell=bash disable=SC2154  # what lib.sh and the sourcing script define
# A Debian of another release in a folder of the build directory: makes it, and runs commands there.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced after lib.sh. Mounts are made in a mount namespace of their own: they end with the
# command, so deleting the folder deletes nothing else.

# Prints the reason why no chroot can be made here, if there is one.
why_no_chroot() {
  if [ "$(id -u)" -ne 0 ]; then
    echo 'a chroot needs root'
  elif ! command -v mmdebstrap >/dev/null; then
    echo 'there is no mmdebstrap'
  elif ! chroot / true 2>/dev/null; then
    echo 'chroot is not permitted here'
  fi
}

# debian_mirror RELEASE: the machine's own mirror if it has the release, else Debian's; nothing if
# neither can be reached.
debian_mirror() {
  local mirror
  for mirror in $(own_mirrors) http://deb.debian.org/debian; do
    if /usr/lib/apt/apt-helper -qq download-file "${mirror%/}/dists/$1/InRelease" \
      "$build/private/InRelease" >/dev/null 2>&1; then
      printf '%s\n' "${mirror%/}"
      return
    fi
  done
}

own_mirrors() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^Debian //p' | sort -u
}

# The architectures of the next chroot: the machine's own, and others whose libraries it needs.
chroot_architectures=$(dpkg --print-architecture 2>/dev/null || true)

# make_chroot DIR RELEASE PACKAGE...: makes DIR/root, or keeps it if it was made of the same
# packages. Its output goes to DIR/private/chroot.log.
make_chroot() {
  local dir=$1 release=$2 wanted mirror setting
  shift 2
  wanted="$release $chroot_architectures $*"
  [ "$(cat "$dir/private/chroot" 2>/dev/null)" != "$wanted" ] || return 0
  mirror=$(debian_mirror "$release")
  [ -n "$mirror" ] || { echo "no mirror with Debian's $release can be reached" && return 3; }
  rm -rf --one-file-system "$dir/root"
  rm -f "$dir/private/chroot"
  mkdir -p "$dir/private"
  local options=(--mode=root --variant=apt "--architectures=$chroot_architectures"
    "--include=$(IFS=,; echo "$*")"
    '--aptopt=APT::Install-Recommends "false"' '--aptopt=Acquire::Languages "none"'
    --dpkgopt=force-unsafe-io '--dpkgopt=path-exclude=/usr/share/doc/*'
    '--dpkgopt=path-exclude=/usr/share/man/*' '--dpkgopt=path-exclude=/usr/share/locale/*')
  # Proxies and the like: the chroot needs them as much as this machine.
  while read -r setting; do
    options+=("--aptopt=$setting")
  done < <(apt-config dump | grep -E '^Acquire::https?::' || true)
  mmdebstrap "${options[@]}" "$release" "$dir/root" "$mirror" || return 1
  printf '%s\n' "$wanted" >"$dir/private/chroot"
}

# The folder of the CUDA toolkit whose nvcc meson would find; nothing without one, or if it is
# scattered over /usr.
cuda_toolkit() {
  local nvcc toolkit
  for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
    [ -x "$nvcc" ] || continue
    # nvcc itself knows its folder; the file in PATH may be a script that calls it.
    toolkit=$("$nvcc" --dryrun -x cu - -o /dev/null </dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' || true)
    toolkit=$(realpath -q "$toolkit" || true)
    if [ -n "$toolkit" ] && [ "$toolkit" != /usr ]; then
      printf '%s\n' "$toolkit"
      return
    fi
  done
}

# If mounts are refused, we copy the part of the toolkit that the build needs.
copy_toolkit() {
  local from=$1 to=$2 part
  [ ! -x "$to/bin/nvcc" ] || return 0
  for part in bin nvvm include; do
    cp -rL --preserve=mode,timestamps "$from/$part" "$to/" || return
  done
  mkdir -p "$to/targets/x86_64-linux"
  ln -sfn ../../include "$to/targets/x86_64-linux/include"
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

# This runs in its own mount namespace. A refused mount is left out.
# shellcheck disable=SC2016  # expanded there
mount_and_enter='
  chroot=$1 toolkit=$2
  shift 2
  for folder in proc dev; do mount --rbind "/$folder" "$chroot/$folder" || exit; done
  [ -z "$toolkit" ] || mount --bind "$toolkit" "$chroot/usr/local/cuda" || exit
  if [ "$1" = --try ]; then exit 0; fi
  exec chroot "$chroot" "$@"'

# Sets `namespace` to the command that makes a namespace with permission to mount: root's own, or a
# user namespace. It is empty if neither works.
find_namespace() {
  local dir=$1
  for namespace in 'unshare --mount' 'unshare --user --map-root-user --mount' ''; do
    # shellcheck disable=SC2086  # a list of words
    [ -z "$namespace" ] || ! $namespace sh -c "$mount_and_enter" sh "$dir/root" "$toolkit" --try \
      2>/dev/null || return 0
  done
}

# open_chroot DIR: prepares in_chroot(). Sets toolkit and namespace.
open_chroot() {
  local dir=$1
  toolkit=$(cuda_toolkit)
  mkdir -p "$dir/root/usr/local/cuda"
  find_namespace "$dir"
  if [ -n "$toolkit" ] && [ -z "$namespace" ]; then
    say "Mounts are not permitted here: copying the CUDA toolkit"
    copy_toolkit "$toolkit" "$dir/root/usr/local/cuda"
  fi
}

# in_chroot DIR COMMAND...: runs it in DIR/root. The command sees only the environment variables
# about testing, and chroot_images: where in there the images are that nvcc need not compile again.
in_chroot() {
  local dir=$1 enter=(chroot "$1/root") name
  shift
  # shellcheck disable=SC2206  # a list of words
  [ -z "$namespace" ] || enter=($namespace sh -c "$mount_and_enter" sh "$dir/root" "$toolkit")
  local environment=(PATH=/usr/local/cuda/bin:/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C.UTF-8
    PYTHONDONTWRITEBYTECODE=1 "CUDATRANSFORM_IMAGE_CACHE=${chroot_images:-}")
  for name in CI CUDATRANSFORM_REQUIRE_GPU; do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
  done
  "${enter[@]}" /usr/bin/env -i "${environment[@]}" "$@"
}
