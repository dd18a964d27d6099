// Chooses the cases, a full product of the properties that kernels branch on and pairs of the rest,
// and judges one by the DCT's promises.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/cases.h"

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <span>

namespace cudatransform::test {

namespace {

// The properties of a case as small integers, so that pairs can be counted.
enum Property {
  kMethod,
  kDirection,
  kForm,
  kPlacement,
  kDepth,
  kSampling,
  kArrangement,
  kSize,
  kContent,
  kTable,
  kMeasure,
  kProperties
};
constexpr std::array<int, 11> kValues = {
    kMethodCount, 2, 4, 3, 4, kSamplingCount, kArrangementCount, 15, kContentCount, 6, 4};
using Choice = std::array<int, kProperties>;

constexpr int kDepths[] = {8, 10, 12, 16};
constexpr int kSizes[][2] = {{1, 1},    {7, 9},   {8, 8},     {17, 33},  {64, 48},
                             {131, 77}, {9, 1},   {1, 23},    {257, 19}, {16, 16},
                             {40, 120}, {33, 16}, {320, 181}, {5, 200},  {160, 112}};
enum Form { kQcoefs16, kQcoefs32, kRounded32, kReal };

bool valid(const Choice& c) {
  const int depth = kDepths[c[kDepth]];
  const auto method = static_cast<Method>(c[kMethod]);
  const auto sampling = static_cast<Sampling>(c[kSampling]);
  const auto arrangement = static_cast<Arrangement>(c[kArrangement]);
  const bool inverse = c[kDirection] == 1;
  if ((method == Method::kIslow || method == Method::kIfast) && depth != 8) return false;
  if (c[kForm] == kQcoefs16 && depth == 16) return false;
  if (c[kForm] == kQcoefs32 && depth != 16) return false;
  if (arrangement == Arrangement::kSemiPlanar && (sampling != Sampling::k420 || depth > 10))
    return false;
  if (arrangement == Arrangement::kResidual && !inverse) return false;
  // The difference between residuals and a reference is not defined.
  if (arrangement == Arrangement::kResidual && (c[kMeasure] & kMeasureSse)) return false;
  if (sampling == Sampling::k440 && !inverse) return false;
  // The reference of a repeated row: see row_repeat_test.
  if (sampling == Sampling::k440 && (c[kMeasure] & kMeasureSse)) return false;
  return true;
}

class PairCounter {
 public:
  int count_new(const Choice& c) const {
    int fresh = 0;
    for_each(c, [&](int code) { fresh += !met_.contains(code); });
    return fresh;
  }
  void add(const Choice& c) {
    for_each(c, [&](int code) { met_.insert(code); });
  }
  size_t size() const { return met_.size(); }

 private:
  template <typename F>
  static void for_each(const Choice& c, F f) {
    for (int i = 0; i < kProperties; ++i)
      for (int j = 0; j < i; ++j) f(((i * 16 + j) * 16 + c[i]) * 16 + c[j]);
  }
  std::set<int> met_;
};

Case make_case(const Choice& c, uint32_t seed) {
  static const CoefType types[] = {CoefType::kS16, CoefType::kS32, CoefType::kS32, CoefType::kF32};
  Case result{};
  result.direction = static_cast<Direction>(c[kDirection]);
  result.sampling = static_cast<Sampling>(c[kSampling]);
  result.content = static_cast<Content>(c[kContent]);
  result.table_kind = static_cast<TableKind>(c[kTable]);
  result.width = kSizes[c[kSize]][0];
  result.height = kSizes[c[kSize]][1];
  result.seed = seed;
  Spec& spec = result.spec;
  spec.method = static_cast<Method>(c[kMethod]);
  spec.type = types[c[kForm]];
  spec.quantized = c[kForm] == kQcoefs16 || c[kForm] == kQcoefs32;
  spec.layout = c[kPlacement] == 2 ? Layout::kPlane : Layout::kBlock;
  spec.order = c[kPlacement] == 1 ? Order::kZigzag : Order::kRaster;
  spec.depth = kDepths[c[kDepth]];
  spec.arrangement = static_cast<Arrangement>(c[kArrangement]);
  spec.chroma_row_repeat = result.sampling == Sampling::k440 ? 2 : 1;
  spec.measure = static_cast<uint32_t>(c[kMeasure]);
  spec.seed = seed * 7 + 3;
  for (int i = 0; i < 3; ++i)
    spec.tables[i] =
        make_table(result.table_kind,
                   i == 0 || result.sampling == Sampling::kRgb ? QuantComponent::kLuma
                                                               : QuantComponent::kChroma,
                   seed + i);
  return result;
}

CaseList make_cases() {
  std::mt19937 random(20240611);
  PairCounter met, possible;
  CaseList list;
  const auto draw = [&](Choice c, int first) {
    for (int tries = 0; tries < 1000; ++tries) {
      for (int p = first; p < kProperties; ++p) c[p] = static_cast<int>(random() % kValues[p]);
      if (valid(c)) break;
    }
    return c;
  };
  for (int i = 0; i < 40000; ++i)
    if (const Choice c = draw({}, 0); valid(c)) possible.add(c);

  Choice c{};
  for (c[kMethod] = 0; c[kMethod] < kValues[kMethod]; ++c[kMethod])
    for (c[kDirection] = 0; c[kDirection] < 2; ++c[kDirection])
      for (c[kForm] = 0; c[kForm] < 4; ++c[kForm])
        for (c[kPlacement] = 0; c[kPlacement] < 3; ++c[kPlacement])
          for (c[kDepth] = 0; c[kDepth] < 4; ++c[kDepth]) {
            // The integer methods exist at one depth: draw them as often as all others together.
            const int repeats = c[kMethod] <= static_cast<int>(Method::kIfast) ? 12 : 3;
            for (int r = 0; r < repeats; ++r) {
              Choice best{};
              int best_new = -1;
              for (int i = 0; i < 40; ++i) {
                const Choice candidate = draw(c, kSampling);
                if (!valid(candidate)) break;
                if (const int fresh = met.count_new(candidate); fresh > best_new) {
                  best = candidate;
                  best_new = fresh;
                }
              }
              if (best_new < 0) continue;
              met.add(best);
              list.cases.push_back(make_case(best, static_cast<uint32_t>(list.cases.size() + 1)));
            }
          }
  list.pairs_met = met.size();
  list.pairs_possible = possible.size();
  return list;
}

bool valid_scaled(const Choice& c, int scale) {
  const auto method = static_cast<Method>(c[kMethod]);
  if (effective_method(method, kDepths[c[kDepth]], scale) != method) return false;
  return (c[kMeasure] & kMeasureSse) == 0 && valid(c);
}

// The best of a few draws of some properties, which leave the others as they are.
template <typename Valid>
bool draw_best(Choice* choice, std::span<const Property> drawn, const Valid& is_valid,
               std::mt19937* random, PairCounter* met) {
  Choice best{};
  int best_new = -1;
  for (int tries = 0; tries < 200; ++tries) {
    Choice c = *choice;
    for (const Property p : drawn)
      c[p] = static_cast<int>((*random)() % static_cast<unsigned>(kValues[p]));
    if (!is_valid(c)) continue;
    if (const int fresh = met->count_new(c); fresh > best_new) {
      best = c;
      best_new = fresh;
    }
  }
  if (best_new < 0) return false;
  met->add(best);
  *choice = best;
  return true;
}

CaseList make_scaled_cases() {
  constexpr Property kDrawn[] = {kSampling, kArrangement, kSize, kContent, kTable, kMeasure};
  std::mt19937 random(20250131);
  CaseList list;
  for (const int scale : {2, 4, 8}) {
    PairCounter met;
    Choice c{};
    c[kDirection] = 1;
    for (c[kMethod] = 0; c[kMethod] < kValues[kMethod]; ++c[kMethod])
      for (c[kForm] = 0; c[kForm] < kValues[kForm]; ++c[kForm])
        for (c[kPlacement] = 0; c[kPlacement] < kValues[kPlacement]; ++c[kPlacement])
          for (c[kDepth] = 0; c[kDepth] < kValues[kDepth]; ++c[kDepth]) {
            const int repeats = c[kMethod] == static_cast<int>(Method::kIslow) ? 16 : 4;
            for (int r = 0; r < repeats; ++r) {
              Choice choice = c;
              const auto is_valid = [&](const Choice& drawn) { return valid_scaled(drawn, scale); };
              if (!draw_best(&choice, kDrawn, is_valid, &random, &met)) break;
              list.cases.push_back(make_case(choice, static_cast<uint32_t>(list.cases.size() + 1)));
              list.cases.back().spec.scale = scale;
            }
          }
    list.pairs_met += met.size();
  }
  return list;
}

// Thresholds and multipliers, from the smallest to the largest.
constexpr int kDeadZones[] = {500, 600, 647, 1000};
constexpr double kLambdas[] = {0.001, 0.03, 0.0625, 1};

CaseList make_decided_cases() {
  constexpr Property kDrawn[] = {kSampling, kArrangement, kSize, kContent, kMeasure};
  std::mt19937 random(20261127);
  CaseList list;
  PairCounter met;
  Choice c{};
  c[kForm] = kQcoefs16;
  for (const Quantizer quantizer : {Quantizer::kDeadZone, Quantizer::kRd})
    for (c[kMethod] = 0; c[kMethod] <= static_cast<int>(Method::kFloat); ++c[kMethod])
      for (c[kPlacement] = 0; c[kPlacement] < kValues[kPlacement]; ++c[kPlacement])
        for (int table = 0; table < kValues[kTable]; ++table) {
          if (quantizer == Quantizer::kRd && table == static_cast<int>(TableKind::kMixed65535))
            continue;
          Choice choice = c;
          choice[kTable] = table;
          draw_best(&choice, kDrawn, valid, &random, &met);
          list.cases.push_back(make_case(choice, static_cast<uint32_t>(list.cases.size() + 1)));
          Spec& spec = list.cases.back().spec;
          spec.quantizer = quantizer;
          spec.dead_zone = kDeadZones[random() % std::size(kDeadZones)];
          spec.rd_lambda = kLambdas[random() % std::size(kLambdas)];
        }
  list.pairs_met = met.size();
  return list;
}

}  // namespace

QuantTable make_table(TableKind kind, QuantComponent component, uint32_t seed) {
  std::mt19937 random(seed);
  QuantTable table{};
  switch (kind) {
    case TableKind::kAnnexK50:
      return preset_table(QuantPreset::kAnnexK, component, 50);
    case TableKind::kAnnexK95:
      return preset_table(QuantPreset::kAnnexK, component, 95);
    case TableKind::kWhitepaper:
      return preset_table(QuantPreset::kWhitepaper, component, 50);
    case TableKind::kOnes:
      for (uint16_t& q : table.q) q = 1;
      return table;
    case TableKind::kMixed255:
      for (uint16_t& q : table.q) q = static_cast<uint16_t>(1 + random() % 255);
      return table;
    case TableKind::kMixed65535:
      for (uint16_t& q : table.q)
        q = static_cast<uint16_t>(1 + random() % (65535u >> random() % 16));
      table.q[random() % 64] = 65535;
      return table;
  }
  return table;
}

std::string Case::text() const {
  static const char* const types[] = {"S16", "S32", "F32"};
  static const char* const contents[] = {"photo", "noise", "extreme"};
  static const char* const tables[] = {"annex-k 50", "annex-k 95",   "ones",
                                       "whitepaper", "mixed to 255", "mixed to 65535"};
  std::string s = direction == Direction::kForward ? "forward " : "inverse ";
  s += method_name(spec.method);
  s += std::string(" ") + types[static_cast<int>(spec.type)];
  s += spec.quantized ? std::string(" coefficients of ") + tables[static_cast<int>(table_kind)]
                      : " values";
  s += spec.layout == Layout::kPlane  ? ", plane"
       : spec.order == Order::kZigzag ? ", block zigzag"
                                      : ", block raster";
  s += ", " + std::to_string(spec.depth) + " bit " + arrangement_name(spec.arrangement) + " " +
       sampling_name(sampling) + " " + std::to_string(width) + "x" + std::to_string(height) + " " +
       contents[static_cast<int>(content)];
  if (spec.scale != 1) s += ", at 1/" + std::to_string(spec.scale);
  if (spec.quantizer == Quantizer::kDeadZone) s += ", dead zone " + std::to_string(spec.dead_zone);
  if (spec.quantizer == Quantizer::kRd) s += ", rd lambda " + std::to_string(spec.rd_lambda);
  s += ", measure " + std::to_string(spec.measure) + ", seed " + std::to_string(seed);
  return s;
}

const CaseList& all_cases() {
  static const CaseList list = make_cases();
  return list;
}

const CaseList& scaled_cases() {
  static const CaseList list = make_scaled_cases();
  return list;
}

const CaseList& decided_cases() {
  static const CaseList list = make_decided_cases();
  return list;
}

namespace {

Coefficients stored_form(const Spec& spec, const Coefficients& exact) {
  if (spec.quantized) return quantize(exact, spec.tables);
  Coefficients stored = exact;
  for (Blocks& blocks : stored)
    for (double& value : blocks.values)
      value = spec.type == CoefType::kF32 ? static_cast<float>(value) : std::round(value);
  return stored;
}

// Unquantized coefficients, as an engine makes them.
ForwardResult run_unquantized(const Engine& engine, Spec spec, const Picture& picture) {
  spec.quantizer = Quantizer::kRound;
  spec.quantized = false;
  spec.type = CoefType::kF32;
  spec.measure = 0;
  return run_forward(engine, spec, picture);
}

// float's differ from engine to engine.
std::string check_decisions(const Engine& engine, const Spec& spec, const Expectation& e,
                            const Coefficients& qcoefs) {
  if (!e.real.empty()) return judge_decisions(spec, e.real, qcoefs);
  const ForwardResult real = run_unquantized(engine, spec, e.picture);
  return real.fault.empty() ? judge_decisions(spec, real.coefs, qcoefs) : real.fault;
}

std::string check_forward(const Engine& engine, const Case& test, const Expectation& e) {
  const Spec& spec = test.spec;
  const ForwardResult result = run_forward(engine, spec, e.picture);
  if (!result.fault.empty()) return result.fault;
  if (spec.quantizer != Quantizer::kRound) {
    if (std::string f = check_decisions(engine, spec, e, result.coefs); !f.empty()) return f;
  } else if (spec.method != Method::kIfast) {  // its promise is libjpeg-turbo: see libjpeg_test
    if (std::string f = judge_coefficients(spec, e.exact, result.coefs); !f.empty()) return f;
  }
  if (is_integer(spec.method))
    if (std::string f = judge_equal(e.portable_forward.coefs, result.coefs); !f.empty())
      return "against portable: " + f;
  if (spec.measure & kMeasureZeros)
    if (std::string f = judge_zeros(result.sums, result.coefs); !f.empty()) return f;
  if (spec.measure & kMeasureSse) {
    Spec back = spec;
    back.measure = 0;
    const InverseResult decoded = run_inverse(engine, back, result.coefs, e.picture);
    if (!decoded.fault.empty()) return "decoding again: " + decoded.fault;
    return judge_sse(result.sums, e.picture, decoded.picture, is_integer(spec.method));
  }
  return "";
}

std::string check_inverse(const Engine& engine, const Case& test, const Expectation& e) {
  const Spec& spec = test.spec;
  const InverseResult result = run_inverse(engine, spec, e.input, e.like, e.compared_with());
  if (!result.fault.empty()) return result.fault;
  if (spec.method != Method::kIfast)
    if (std::string f = judge_samples(spec, e.samples, e.values, result.picture); !f.empty())
      return f;
  if (is_integer(spec.method))
    if (std::string f = judge_equal(e.portable_inverse.picture, result.picture); !f.empty())
      return "against portable: " + f;
  if (spec.measure & kMeasureZeros)
    if (std::string f = judge_zeros(result.sums, e.input); !f.empty()) return f;
  if (spec.measure & kMeasureSse) return judge_sse(result.sums, e.reference, result.picture, true);
  return "";
}

}  // namespace

Expectation expect(const Case& test) {
  Expectation e;
  const Spec& spec = test.spec;
  e.picture =
      make_picture(test.sampling, test.width, test.height, spec.depth, test.content, test.seed);
  e.exact = definition_forward(e.picture, spec.depth);
  if (test.direction == Direction::kInverse) {
    e.input = stored_form(spec, e.exact);
    e.values = spec.quantized ? dequantize(e.input, spec.tables) : e.input;
    e.like = spec.scale == 1 ? e.picture : empty_scaled_picture(e.picture, spec.scale);
    // Scaled islow is libjpeg's, which takes means.
    e.samples = spec.scale == 1 ? definition_inverse(e.values, e.like)
                                : definition_scaled_inverse(e.values, e.like, spec.scale,
                                                            spec.method == Method::kIslow
                                                                ? ScaledBy::kMeans
                                                                : ScaledBy::kLowFrequencies);
    if (spec.measure & kMeasureSse)
      e.reference = make_picture(test.sampling, test.width, test.height, spec.depth,
                                 Content::kPhoto, test.seed + 1000);
  }
  if (is_integer(spec.method)) {
    if (test.direction == Direction::kForward) {
      e.portable_forward = run_forward(portable_engine(), spec, e.picture);
      if (spec.quantizer != Quantizer::kRound)
        e.real = run_unquantized(portable_engine(), spec, e.picture).coefs;
    } else {
      e.portable_inverse = run_inverse(portable_engine(), spec, e.input, e.like, e.compared_with());
    }
  }
  return e;
}

std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation) {
  return test.direction == Direction::kForward ? check_forward(engine, test, expectation)
                                               : check_inverse(engine, test, expectation);
}

}  // namespace cudatransform::test
