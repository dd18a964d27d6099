// The parts of make_dirac: scenes, the search for vectors, and groups of pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dirac/picture_header.h"
#include "dirac/sequence.h"
#include "tests/dirac/encoder/picture.h"
#include "tests/engine/frame.h"
#include "transform/obmc/obmc.h"

namespace cudatransform::test {

enum class SceneKind {
  kPhotograph,  // as a photograph: a camera that pans over it, things that move, grain
  kGradient,    // ramps that move
  kNoise,       // each picture for itself
};

// 4:2:0, 8 bits.
class Scene {
 public:
  Scene(SceneKind kind, int width, int height);

  // Three planes. Any thread, any number.
  std::vector<BasicPlane<uint8_t>> picture(int number) const;

 private:
  struct Window {
    int x, y;  // quarter samples of the canvas
  };
  void paint();
  Window camera(int number) const;
  void draw_photograph(int number, std::vector<BasicPlane<uint8_t>>* planes) const;
  void add_grain(int number, BasicPlane<uint8_t>* plane) const;

  SceneKind kind_;
  int width_, height_;
  std::vector<BasicPlane<uint8_t>> canvas_;
};

struct GroupSettings {
  DiracSequence sequence;
  DiracCoding coding = DiracCoding::kArithmetic;
  bool is_intra = false;         // all pictures are
  double bits_of_a_picture = 0;  // on average
};

constexpr int kPicturesOfAGroup = 25;

// A parse code, and the data after the parse info.
using DiracUnit = std::pair<uint8_t, std::vector<uint8_t>>;

// Pictures `first` to `last` - 1 of `scene`, in the order of coding. Groups depend on these alone.
// Throws std::runtime_error.
std::vector<DiracUnit> code_group(const Scene& scene, const GroupSettings& settings, int first,
                                  int last);

// Fills the prediction, splits and blocks of `picture`, whose reference count is set: a unit is a
// quarter of a superblock, vectors are quarters of a sample. `references` are upsampled, of 8 bits,
// and in this process's memory.
void search_motion(const std::vector<BasicPlane<uint8_t>>& source,
                   const ObmcReference* const* references, CodedPicture* picture);

}  // namespace cudatransform::test
