// Fuzz target: indices of files with several pictures. What is found lies in the file, and an index
// that was rewritten leads to where it says.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a file.
#include <vector>

#include "jpeg/mpf.h"
#include "tests/fuzz/fuzzing.h"

using cudatransform::FilePlace;
using cudatransform::FilePlaces;
using fuzzing::promise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> file(data, data + size);  // a sanitizer sees reads behind it
  const auto [end, has_end] = cudatransform::first_picture(file);
  promise(end <= size, "a picture ends in its file");
  FilePlaces places;
  if (!cudatransform::find_places(file, end, &places).ok()) return 0;
  if (!cudatransform::check_places(file, places).ok() || places.count == 0) return 0;
  promise(places.begin() >= end && places.end() <= size, "pictures lie behind the first");
  if (!has_end) return 0;

  // The same behind a first picture that is larger, by bytes in front of its EOI.
  constexpr size_t kMore = 3;
  std::vector<uint8_t> other(file.begin(), file.begin() + static_cast<ptrdiff_t>(end));
  other.insert(other.end() - 2, kMore, 0);
  const size_t new_end = cudatransform::first_picture(other).size;
  if (new_end != other.size()) return 0;  // no scan: what was put in ends a segment
  std::vector<FilePlace> others(places.all().begin(), places.all().end());
  for (FilePlace& place : others) place.begin -= end;
  promise(cudatransform::rewrite_mpf(other, others).ok(), "an index that was read is rewritten");
  other.insert(other.end(), file.begin() + static_cast<ptrdiff_t>(end), file.end());
  FilePlaces again;
  promise(cudatransform::find_places(other, new_end, &again).ok() && again.count == places.count,
          "an index that was rewritten is read");
  for (uint32_t i = 0; i < again.count; i++)
    promise(again.place[i] == FilePlace{places.place[i].begin + kMore, places.place[i].size},
            "pictures are where the index says");
  return 0;
}
