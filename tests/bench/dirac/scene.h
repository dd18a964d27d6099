// Moving pictures for encoders, made from numbers alone: the same on every machine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/engine/picture.h"

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

}  // namespace cudatransform::test
