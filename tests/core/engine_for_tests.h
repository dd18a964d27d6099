// Engines, pictures and their contents, for the tests of libcudatransform.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/cudatransform.h"

namespace cudatransform::test {

using Bytes = std::vector<uint8_t>;

// The device that is tested beside the CPU, of --device=N; -1: none.
extern int32_t device;

class Engine {
 public:
  explicit Engine(int32_t ordinal = -1, int32_t threads = 2, uint64_t most = 0) {
    const CtEngineOptions options = {sizeof options, ordinal, threads, most};
    CtError error;
    EXPECT_EQ(ct_engine_new(&options, &engine_, &error), CT_OK) << error.text;
  }
  ~Engine() { ct_engine_free(engine_); }
  operator CtEngine*() const { return engine_; }

 private:
  CtEngine* engine_ = nullptr;
};

inline CtDecodeOptions decode_options(CtOutput output) {
  CtDecodeOptions options = {};
  options.struct_size = sizeof options;
  options.output = output;
  return options;
}

inline CtSource source_of(const Bytes& file) { return {file.data(), file.size(), nullptr}; }

// Pictures that are released with the object.
struct Pictures : std::vector<CtPicture> {
  using std::vector<CtPicture>::vector;
  ~Pictures() {
    for (CtPicture& picture : *this) ct_picture_clear(&picture);
  }
};

inline Pictures decode(CtEngine* engine, const std::vector<Bytes>& files,
                       const CtDecodeOptions& options) {
  std::vector<CtSource> sources;
  for (const Bytes& file : files) sources.push_back(source_of(file));
  Pictures pictures(files.size());
  CtError error;
  EXPECT_EQ(ct_decode(engine, &options, sources.data(), sources.size(), pictures.data(), &error),
            CT_OK)
      << error.text;
  return pictures;
}

// A picture's pixels or levels on the host.
inline Bytes contents(CtEngine* engine, const CtPicture& picture) {
  Bytes all;
  const auto append = [&](const void* from, int64_t pitch, int64_t row_bytes, int64_t rows) {
    const size_t at = all.size();
    all.resize(at + static_cast<size_t>(row_bytes * rows));
    EXPECT_EQ(ct_copy_to_host(engine, all.data() + at, row_bytes, from, pitch,
                              static_cast<size_t>(row_bytes), static_cast<size_t>(rows), nullptr),
              CT_OK);
  };
  if (picture.data != nullptr)
    append(picture.data, picture.pitch, int64_t{picture.width} * picture.channels, picture.height);
  for (int c = 0; c < picture.components; ++c) {
    const CtComponent& component = picture.component[c];
    append(component.data, component.pitch, int64_t{component.blocks_w} * 128, component.blocks_h);
  }
  return all;
}

}  // namespace cudatransform::test
