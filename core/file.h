// Files that the library reads by their paths.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "transform/device/status.h"

namespace cudatransform::core {

inline constexpr size_t kMaxFileBytes = size_t{256} << 20;

inline Status unreadable(const std::string& why) { return Status::error(StatusCode::kFailed, why); }

// A file descriptor, closed with the object. Errors are unreadable().
class File {
 public:
  // Does not wait for the writer of a pipe.
  explicit File(const char* path) : number_(::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Of a file that can be read, and has bytes.
  Status size(size_t* size) const {
    struct stat info = {};
    if (number_ < 0 || fstat(number_, &info) != 0) return unreadable(std::strerror(errno));
    if (S_ISDIR(info.st_mode)) return unreadable("it is a directory");
    if (!S_ISREG(info.st_mode)) return unreadable("it is not a file");
    *size = static_cast<size_t>(info.st_size);
    return *size == 0 ? unreadable("it has 0 bytes") : Status();
  }
  // The next bytes.
  Status read(uint8_t* to, size_t size) {
    for (size_t done = 0; done < size;) {
      const ssize_t got = ::read(number_, to + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return unreadable(std::strerror(errno));
      if (got == 0) return unreadable("it became shorter while it was read");
      done += static_cast<size_t>(got);
    }
    return {};
  }

 private:
  const int number_;
};

}  // namespace cudatransform::core
