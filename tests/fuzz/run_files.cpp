// Calls a fuzz target with every file of the given folders, without a fuzzer.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: PROGRAM --target=NAME FOLDER...     or, with a command that makes a folder's contents,
//        PROGRAM --target=NAME --make COMMAND...    which is run with a new folder as its last
//                                     argument; its exit status 77 is passed on
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/fuzzing.h"

namespace {

namespace fs = std::filesystem;

int run_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    // Memory of exactly this size, as in libFuzzer.
    const auto data = std::make_unique<uint8_t[]>(text.size());
    if (!text.empty()) memcpy(data.get(), text.data(), text.size());
    std::fprintf(stderr, "%s\n", path.c_str());
    LLVMFuzzerTestOneInput(data.get(), text.size());
  }
  return static_cast<int>(paths.size());
}

// Runs a command with `folder` as the last argument; returns its exit status.
int make_folder(char** begin, char** end, const fs::path& folder) {
  std::ostringstream command;
  for (char** word = begin; word != end; word++) command << '\'' << *word << "' ";
  command << '\'' << folder.string() << '\'';
  const int status = std::system(command.str().c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  int files = 0;
  if (argc > 2 && strcmp(argv[1], "--make") == 0) {
    std::string folder = (fs::temp_directory_path() / "cudatransform-seeds-XXXXXX").string();
    if (!mkdtemp(folder.data())) return 1;
    const int status = make_folder(argv + 2, argv + argc, folder);
    if (status == 0) files = run_folder(folder);
    fs::remove_all(folder);
    if (status != 0) return status;
  } else {
    for (int i = 1; i < argc; i++) files += run_folder(argv[i]);
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
