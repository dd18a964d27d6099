// A folder for the files of a test, deleted with all its contents.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

#include <filesystem>
#include <string>

namespace testing {

class Folder {
 public:
  Folder() {
    g_autofree gchar* made = g_dir_make_tmp("cudatransform-XXXXXX", nullptr);
    fail_unless(made != nullptr, "no temporary folder");
    path_ = made;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace testing
