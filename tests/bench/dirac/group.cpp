// Codes groups of pictures at a bit rate: an intra picture, and pictures predicted from it.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The encoder contains the decoder: dirac/ and its renderer make the reference pictures from the
// bytes. Of three pictures the last is coded first, from the one before them; the others have both
// for references.

#include "tests/bench/dirac/group.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>

#include "dirac/decoder.h"
#include "dirac/renderer.h"
#include "tests/bench/common.h"
#include "tests/dirac/encoder/picture_definition.h"
#include "tests/dirac/encoder/stream.h"
#include "transform/device/host_device.h"
#include "transform/dwt/dwt.h"
#include "transform/dwt/quantizer.h"
#include "transform/obmc/obmc.h"

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Planes = std::vector<BasicPlane<uint8_t>>;

constexpr Wavelet kWavelet = Wavelet::kDd97;
constexpr int kLevels = 4, kOfThree = 3;
constexpr int kMaxQuantizer = 60, kMaxTries = 6;
constexpr double kStepsOfHalf = 5.5;  // of quantizers, until there is half the data, about
constexpr double kGood = 0.06;        // of a size near enough to the target

using bench::require;

enum class Role { kIntra, kForward, kBetween };

class GroupCoder {
 public:
  GroupCoder(const Scene& scene, const GroupSettings& settings)
      : scene_(scene),
        settings_(settings),
        device_(make_host_device(1)),
        ops_{&portable_dirac_dequantize_ops(), &host_dwt_ops(), &portable_obmc_ops()},
        renderer_(*device_, ops_) {
    StreamWriter header;
    header.add_sequence(settings.sequence);
    require(decoder_.take(header.bytes()));
  }

  std::vector<DiracUnit> code(int first, int last) {
    plan(first, last);
    for (const auto& [number, role] : order_) code_picture(number, role);
    return std::move(units_);
  }

 private:
  void plan(int first, int last) {
    order_.emplace_back(first, Role::kIntra);
    for (int at = first + 1; at < last;) {
      const int end = std::min(at + kOfThree, last);
      if (settings_.is_intra) {
        order_.emplace_back(at++, Role::kIntra);
        continue;
      }
      order_.emplace_back(end - 1, Role::kForward);
      for (; at < end - 1; ++at) order_.emplace_back(at, Role::kBetween);
      at = end;
    }
    bits_left_ = settings_.bits_of_a_picture * static_cast<double>(order_.size());
    for (const auto& entry : order_) weight_left_ += weight_of(entry.second);
  }
  // Bits, in units of those of a picture that no other needs.
  double weight_of(Role role) const {
    if (settings_.is_intra) return 1;
    return role == Role::kIntra ? 8 : role == Role::kForward ? 3 : 1;
  }

  void code_picture(int number, Role role) {
    const Planes source = scene_.picture(number);
    CodedPicture picture;
    describe(number, role, &picture);
    if (!picture.is_intra()) predict(source, &picture);
    const std::vector<std::vector<int32_t>> coefs = transform(source, picture);
    const double aim = bits_left_ * weight_of(role) / weight_left_;
    const Bytes bytes = search_quantizer(coefs, aim / 8, role, &picture);
    bits_left_ = std::max(bits_left_ - 8 * static_cast<double>(bytes.size()), 0.0);
    weight_left_ -= weight_of(role);
    render(picture.parse_code, bytes, role);
    units_.emplace_back(picture.parse_code, bytes);
  }

  void describe(int number, Role role, CodedPicture* picture) {
    DiracPictureHeader& h = picture->header;
    h.number = static_cast<uint32_t>(number);
    h.coding = settings_.coding;
    h.is_reference = !settings_.is_intra && role != Role::kBetween;
    h.reference_count = role == Role::kIntra ? 0 : role == Role::kForward ? 1 : 2;
    picture->parse_code =
        static_cast<uint8_t>((settings_.coding == DiracCoding::kArithmetic ? 0x08 : 0x48) |
                             (h.is_reference ? 0x04 : 0) | h.reference_count);
    for (int r = 0; r < h.reference_count; ++r) h.references[r] = reference(*picture, r).number;
    if (h.is_reference && before_ != nullptr) {
      h.retires = true;
      h.retired = before_->number;
    }
    DiracTransform& t = picture->transform;
    t.wavelet = t.wavelet_ho = kWavelet;
    t.levels = {kLevels, 0};
    picture->writes_partition = true;
    for (int level = 0; level <= kLevels; ++level) {
      t.columns[level] =
          level < 2 ? 1 : std::max(1, static_cast<int>(settings_.sequence.width) / 160);
      t.rows[level] =
          level < 2 ? 1 : std::max(1, static_cast<int>(settings_.sequence.height) / 160);
    }
    (void)default_matrix(kWavelet, kWavelet, t.levels, matrix_);
    lay_out_bands(settings_.sequence, picture);
  }

  // A picture with one reference is predicted from the last one, one with two from the last two.
  DiracRendered& reference(const CodedPicture& picture, int number) const {
    return number == picture.header.reference_count - 1 ? *last_ : *before_;
  }
  void predict(const Planes& source, CodedPicture* picture) {
    const ObmcReference* references[kMaxObmcReferences] = {};
    for (int r = 0; r < picture->header.reference_count; ++r)
      references[r] = &upsampled(reference(*picture, r));
    search_motion(source, references, picture);
  }
  const ObmcReference& upsampled(DiracRendered& rendered) {
    if (!rendered.is_upsampled) {
      UpsampleJob job;
      job.components = kMaxComponents;
      for (int& depth : job.depth) depth = 8;
      job.reference = rendered.reference;
      require(ops_.obmc->upsample(*device_, device_->queue(QueueKind::kCompute), job, nullptr));
      rendered.is_upsampled = true;
    }
    return rendered.reference;
  }

  // The picture by motion compensation alone; mid-gray for one without.
  Planes predicted(const Planes& source, const CodedPicture& picture) {
    Planes planes = source;
    if (picture.is_intra()) {
      for (auto& plane : planes) std::fill(plane.samples.begin(), plane.samples.end(), 128);
      return planes;
    }
    const DiracPrediction& p = picture.prediction;
    ObmcJob job;
    job.components = kMaxComponents;
    job.blocks = picture.blocks.data();
    job.blocks_across = p.blocks_across;
    job.blocks_down = p.blocks_down;
    job.length_x = p.length_x;
    job.length_y = p.length_y;
    job.separation_x = p.separation_x;
    job.separation_y = p.separation_y;
    job.chroma_shift_x = job.chroma_shift_y = 1;
    job.precision = p.precision;
    job.reference_count = picture.header.reference_count;
    for (int r = 0; r < job.reference_count; ++r)
      job.references[r] = reference(picture, r).reference;
    for (int c = 0; c < kMaxComponents; ++c) {
      auto& plane = planes[static_cast<size_t>(c)];
      job.depth[c] = 8;
      job.samples[c].data = plane.samples.data();
      job.samples[c].type = SampleType::kU8;
      job.samples[c].stride = 1;
      job.samples[c].width = plane.width;
      job.samples[c].height = plane.rows;
      job.samples[c].pitch = plane.width;
    }
    require(ops_.obmc->compensate(*device_, device_->queue(QueueKind::kCompute), job, nullptr));
    return planes;
  }

  // The coefficients of each component, in a pyramid.
  std::vector<std::vector<int32_t>> transform(const Planes& source, const CodedPicture& picture) {
    const Planes from = predicted(source, picture);
    std::vector<WidePlane> differences;
    std::vector<std::vector<int32_t>> coefs;
    DwtJob job;
    job.wavelet = job.wavelet_ho = kWavelet;
    job.levels = picture.transform.levels;
    job.type = DwtCoefType::kS32;
    job.depth = 16;
    job.components = kMaxComponents;
    for (size_t c = 0; c < kMaxComponents; ++c) {
      WidePlane& d = differences.emplace_back(source[c].width, source[c].rows, SampleType::kU16);
      // Around 2^15, as the forward transform takes differences.
      for (int y = 0; y < source[c].rows; ++y) {
        for (int x = 0; x < source[c].width; ++x)
          d.set(x, y, 32768 + source[c].at(x, y) - from[c].at(x, y));
      }
      const CodedBand& last = picture.bands[c].back();
      const auto width = static_cast<size_t>(last.x + last.width);
      coefs.emplace_back(width * static_cast<size_t>(last.y + last.height));
      job.samples[c] = d.plane;
      job.coefs[c] = {coefs.back().data(), static_cast<ptrdiff_t>(4 * width)};
    }
    require(ops_.dwt->submit(*device_, device_->queue(QueueKind::kCompute), job, nullptr));
    return coefs;
  }

  static int32_t quantized(int32_t value, int64_t factor) {
    const auto qcoef = static_cast<int32_t>(4 * int64_t{std::abs(value)} / factor);
    return value < 0 ? -qcoef : qcoef;
  }

  // The coarsest band of an intra picture is coded as differences to the decoder's values.
  void quantize_differences(const std::vector<int32_t>& pyramid, int32_t width, CodedBand* band) {
    BasicPlane<int64_t> known(band->width, band->height);
    for (int32_t y = 0; y < band->height; ++y) {
      for (int32_t x = 0; x < band->width; ++x) {
        const int64_t likely = dc_prediction(known, x, y);
        const auto at =
            static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
        const int32_t qcoef = quantized(pyramid[at] - static_cast<int32_t>(likely),
                                        dwt_quant_factor(band->quantizer));
        band->at(x, y) = qcoef;
        known.at(x, y) =
            likely + (qcoef == 0 ? 0
                                 : dirac_dequantize(qcoef, dwt_quant_factor(band->quantizer),
                                                    dirac_quant_offset(band->quantizer, true)));
      }
    }
  }

  Bytes write(const std::vector<std::vector<int32_t>>& coefs, int quantizer,
              CodedPicture* picture) {
    for (size_t c = 0; c < kMaxComponents; ++c) {
      const CodedBand& last = picture->bands[c].back();
      const int32_t width = last.x + last.width;
      for (size_t i = 0; i < picture->bands[c].size(); ++i) {
        CodedBand& band = picture->bands[c][i];
        band.quantizer = std::max(quantizer - matrix_[i], 0);
        const int64_t factor = dwt_quant_factor(band.quantizer);
        if (i == 0 && picture->is_intra()) {
          quantize_differences(coefs[c], width, &band);
        } else {
          for (int32_t y = 0; y < band.height; ++y) {
            const int32_t* row =
                coefs[c].data() + static_cast<ptrdiff_t>(band.y + y) * width + band.x;
            for (int32_t x = 0; x < band.width; ++x) band.at(x, y) = quantized(row[x], factor);
          }
        }
        band.is_coded = std::any_of(band.qcoefs.begin(), band.qcoefs.end(),
                                    [](int32_t qcoef) { return qcoef != 0; });
      }
    }
    return write_picture(settings_.sequence, *picture);
  }

  // The bytes whose number is nearest to `aim`, over a few trial quantizers.
  Bytes search_quantizer(const std::vector<std::vector<int32_t>>& coefs, double aim, Role role,
                         CodedPicture* picture) {
    int& likely = quantizers_[role];
    int fine = -1, coarse = kMaxQuantizer + 1;  // with too many bytes, with too few
    Bytes best;
    int found = likely;
    double least = INFINITY;
    for (int i = 0, quantizer = likely; i < kMaxTries && coarse - fine > 1; ++i) {
      Bytes bytes = write(coefs, quantizer, picture);
      const double octaves = std::log2(static_cast<double>(bytes.size()) / std::max(aim, 1.0));
      (octaves > 0 ? fine : coarse) = quantizer;
      if (std::abs(octaves) < least) {
        least = std::abs(octaves);
        best = std::move(bytes);
        found = quantizer;
      }
      if (least < kGood) break;
      const bool is_between = fine >= 0 && coarse <= kMaxQuantizer;
      const int step = std::clamp(static_cast<int>(std::lround(octaves * kStepsOfHalf)), -6, 6);
      quantizer = is_between ? (fine + coarse) / 2
                             : std::clamp(quantizer + (step != 0     ? step
                                                       : octaves > 0 ? 1
                                                                     : -1),
                                          fine + 1, coarse - 1);
    }
    likely = found;
    return best;
  }

  void render(uint8_t code, const Bytes& bytes, Role role) {
    if (settings_.is_intra) return;
    StreamWriter writer;
    writer.add_unit(code, bytes);
    require(decoder_.take(writer.bytes()));
    std::unique_ptr<DiracPicture> picture = decoder_.next_picture();
    if (picture == nullptr) throw std::runtime_error("a picture cannot be read back");
    for (int task = 0; task < picture->task_count(); ++task) picture->run_task(task);
    if (picture->damage() != nullptr) throw std::runtime_error(picture->damage());
    if (role != Role::kBetween) {
      DiracRenderedPtr rendered;
      require(renderer_.render(*picture, nullptr, &rendered));
      before_ = std::move(last_);
      last_ = std::move(rendered);
    }
    decoder_.give_back(std::move(picture));
  }

  const Scene& scene_;
  const GroupSettings& settings_;
  std::unique_ptr<Device> device_;
  DiracRenderOps ops_;
  DiracDecoder decoder_;
  DiracRenderer renderer_;
  std::vector<std::pair<int, Role>> order_;
  std::vector<DiracUnit> units_;
  double bits_left_ = 0, weight_left_ = 0;
  std::map<Role, int> quantizers_ = {
      {Role::kIntra, 24}, {Role::kForward, 24}, {Role::kBetween, 26}};
  uint8_t matrix_[kMaxDwtBands] = {};
  DiracRenderedPtr before_, last_;  // the last two references
};

}  // namespace

std::vector<DiracUnit> code_group(const Scene& scene, const GroupSettings& settings, int first,
                                  int last) {
  return GroupCoder(scene, settings).code(first, last);
}

}  // namespace cudatransform::test
