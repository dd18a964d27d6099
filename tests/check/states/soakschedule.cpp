// A seeded schedule of steps between a stream's frames; the same for every engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/states/soakschedule.h"

#include <random>

namespace testing {
namespace {

class Schedule {
 public:
  explicit Schedule(const SoakPlan& plan) : plan_(plan), random_(plan.seed) {}

  std::vector<SoakFrame> make() {
    std::vector<SoakFrame> frames(static_cast<size_t>(plan_.frames));
    for (size_t i = 0; i < frames.size(); i++) {
      steps_ = &frames[i].before;
      if (i == 0) new_frames();
      if (one_in(6)) change_forward();
      if (!delayed_ && one_in(20)) change_inverse();
      if (has_files() && one_in(15)) change_writer();
      if (one_in(40)) new_frames();
      if (plan_.kind == SoakPlan::kQueue && !delayed_ && one_in(50)) new_coding();
      if (one_in(80)) add({SoakStep::kGap, "", "", ""});
      if (one_in(100)) flush();
      if (one_in(250)) end_of_stream();
      if (one_in(300)) restart(SoakStep::kReady);
      if (one_in(500)) restart(SoakStep::kNull);
      frames[i].delayed = delayed_;
    }
    return frames;
  }

 private:
  bool has_files() const { return plan_.kind == SoakPlan::kFiles; }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool one_in(int n) { return below(n) == 0; }
  void add(const SoakStep& step) { steps_->push_back(step); }
  void set(const char* element, const char* property, const std::string& value) {
    add({SoakStep::kProperty, element, property, value});
  }
  template <size_t n>
  const char* one_of(const char* const (&choices)[n]) {
    return choices[below(static_cast<int>(n))];
  }

  void change_forward() {
    if (plan_.kind == SoakPlan::kWavelets) return change_wavelets();
    static constexpr const char* kPresets[] = {"annex-k", "flat", "whitepaper", "mpeg",
                                               "perceptual"};
    switch (below(6)) {
      case 0:
        return set("f", "quant-preset", one_of(kPresets));
      case 1:
        return set("f", "luma-qtable", one_in(2) ? "" : table());
      case 2:
        return set("f", "keep-reference", one_in(2) ? "true" : "false");
      case 3:
        return change_measuring("f");
      case 4:
        return change_method("f");
      default:
        return set("f", "quality", std::to_string(1 + below(100)));
    }
  }

  void change_wavelets() {
    static constexpr const char* kWavelets[] = {"dd97",       "legall53", "dd137",  "haar",
                                                "haar-shift", "fidelity", "daub97", "j2k53"};
    switch (below(7)) {
      case 0:
        // One for both directions: j2k53 pairs with no other.
        return set("f", "wavelet", one_of(kWavelets));
      case 1:
        return set("f", "levels", std::to_string(1 + below(6)));
      case 4:
        return set("f", "levels-ho", std::to_string(below(5)));
      case 5:
        return change_method("f");
      case 2:
        return set("f", "keep-reference", one_in(2) ? "true" : "false");
      case 3:
        return change_measuring("f");
      default:
        return set("f", "quant-index", std::to_string(below(40)));
    }
  }

  void change_inverse() {
    if (plan_.kind == SoakPlan::kWavelets)
      return one_in(2) ? change_method("i") : change_measuring("i");
    static constexpr const char* kScales[] = {"full", "full", "half", "quarter", "eighth"};
    switch (below(3)) {
      case 0:
        return set("i", "scale", one_of(kScales));
      case 1:
        return change_measuring("i");
      default:
        return change_method("i");
    }
  }

  void change_method(const char* element) {
    static constexpr const char* kExact[] = {"islow", "islow", "ifast"};
    static constexpr const char* kAll[] = {"islow", "float", "reference", "matrix", "shuffle"};
    static constexpr const char* kWavelets[] = {"fused", "separable-slab"};
    if (plan_.kind == SoakPlan::kWavelets) return set(element, "method", one_of(kWavelets));
    set(element, "method", plan_.exact ? one_of(kExact) : one_of(kAll));
  }

  void change_measuring(const char* element) {
    static constexpr const char* kKinds[] = {"",      "psnr",      "time",
                                             "zeros", "psnr+time", "psnr+time+zeros"};
    set(element, "measure", one_of(kKinds));
    set(element, "post-messages", one_in(2) ? "true" : "false");
  }

  void change_writer() {
    static constexpr const char* kFlags[] = {"progressive", "optimize", "arithmetic"};
    if (one_in(3)) return set("e", "restart-interval", std::to_string(below(4)));
    set("e", one_of(kFlags), one_in(2) ? "true" : "false");
  }

  std::string table() {
    std::string text = "<";
    // JPEG files of 8 bits take tables of 16, but libjpeg-turbo's equality ends at 255.
    for (int i = 0; i < 64; i++) text += (i ? ", " : " ") + std::to_string(1 + below(255));
    return text + " >";
  }

  void new_frames() {
    if (delayed_) end_of_stream();
    const auto which = static_cast<size_t>(below(static_cast<int>(plan_.geometries.size())));
    add({SoakStep::kFrames, "", "", "", plan_.geometries[which]});
  }

  void new_coding() {
    static constexpr const char* kCodings[] = {
        "quantized=true,layout=block,order=raster", "quantized=true,layout=block,order=zigzag",
        "quantized=true,layout=plane", "quantized=false,format=S32LE,layout=block",
        "quantized=false,format=F32LE,layout=plane"};
    add({SoakStep::kCoding, "", "", one_of(kCodings)});
  }

  void flush() {
    if (delayed_) end_of_stream();
    add({SoakStep::kFlush, "", "", ""});
  }

  void end_of_stream() { add({SoakStep::kEndOfStream, "", "", ""}); }

  void restart(SoakStep::Kind kind) {
    if (delayed_) end_of_stream();
    if (kind == SoakStep::kReady) return add({kind, "", "", ""});
    const int depth = 1 + below(3), threads = has_files() ? 1 + below(3) : 1;
    const std::pair<const char*, int> settings[] = {{"f", depth}, {"i", depth}};
    add({kind, "", "", "", has_files() ? 4 : 2});
    for (const auto& [element, value] : settings)
      set(element, "async-depth", std::to_string(value));
    if (has_files())
      for (const char* element : {"e", "d"}) set(element, "n-threads", std::to_string(threads));
    delayed_ = depth > 1 || threads > 1;
  }

  const SoakPlan& plan_;
  std::mt19937 random_;
  std::vector<SoakStep>* steps_ = nullptr;
  bool delayed_ = false;
};

}  // namespace

std::vector<SoakFrame> make_soak_schedule(const SoakPlan& plan) { return Schedule(plan).make(); }

}  // namespace testing
