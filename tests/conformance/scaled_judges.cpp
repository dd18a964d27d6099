// JPEG files decoded at 1/2, 1/4 and 1/8 by others: TurboJPEG and djpeg.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/scaled_judges.h"

#include <turbojpeg.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tests/engine/engines.h"

namespace cudatransform::test {
namespace {

struct Handle {
  tjhandle tj = tjInitDecompress();
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { tjDestroy(tj); }
  void require(int result) const {
    if (result != 0) throw std::runtime_error(std::string("TurboJPEG: ") + tjGetErrorStr2(tj));
  }
};

// The scale that TurboJPEG takes for a size: the largest one that does not exceed it.
bool picks(int scale, int width, int height) {
  const int w = (width + scale - 1) / scale, h = (height + scale - 1) / scale;
  int count = 0;
  const tjscalingfactor* factors = tjGetScalingFactors(&count);
  for (int i = 0; i < count; ++i) {
    const tjscalingfactor& f = factors[i];
    const bool larger = f.num * scale > f.denom;
    if (larger && TJSCALED(width, f) <= w && TJSCALED(height, f) <= h) return false;
  }
  return true;
}

// TurboJPEG copies rows of the padded width out of a buffer with rows of whole blocks.
bool reads_past_its_rows(int width, int padded_width, int scale) {
  return padded_width > (width + 7) / 8 * (8 / scale);
}

// A file that is deleted with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<uint8_t>& bytes) {
    std::string path = (std::filesystem::temp_directory_path() / "scaled-XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) throw std::runtime_error("no temporary file");
    const bool written =
        write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    close(file);
    path_ = path;
    if (!written) throw std::runtime_error("could not write " + path);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("could not run " + command);
  std::string output;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) output.append(buffer, n);
  return output;
}

}  // namespace

BytePicture turbojpeg_planes(const std::vector<uint8_t>& file, int scale, bool fast) {
  const Handle handle;
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
  const auto size = static_cast<unsigned long>(file.size());
  handle.require(tjDecompressHeader3(handle.tj, file.data(), size, &width, &height, &subsampling,
                                     &colorspace));
  if (!picks(scale, width, height)) return {};
  const int w = (width + scale - 1) / scale, h = (height + scale - 1) / scale;
  if (sanitized() && reads_past_its_rows(width, tjPlaneWidth(0, w, subsampling), scale)) return {};
  const int components = subsampling == TJSAMP_GRAY ? 1 : 3;
  BytePicture padded, visible;
  unsigned char* planes[3] = {};
  int strides[3] = {};
  for (int c = 0; c < components; ++c) {
    BytePlane plane{tjPlaneWidth(c, w, subsampling), tjPlaneHeight(c, h, subsampling), {}};
    plane.samples.resize(static_cast<size_t>(plane.width) * plane.height);
    strides[c] = plane.width;
    padded.push_back(std::move(plane));
  }
  for (int c = 0; c < components; ++c) planes[c] = padded[c].samples.data();
  handle.require(tjDecompressToYUVPlanes(handle.tj, file.data(), size, planes, w, strides, h,
                                         fast ? TJFLAG_FASTDCT : TJFLAG_ACCURATEDCT));
  for (int c = 0; c < components; ++c) {
    // TurboJPEG pads luma to a multiple of chroma's step; chroma sizes are rounded up.
    BytePlane plane = {c == 0 ? w : padded[c].width, c == 0 ? h : padded[c].height, {}};
    for (int y = 0; y < plane.height; ++y) {
      const auto row = padded[c].samples.begin() + static_cast<ptrdiff_t>(y) * padded[c].width;
      plane.samples.insert(plane.samples.end(), row, row + plane.width);
    }
    visible.push_back(std::move(plane));
  }
  return visible;
}

BytePicture djpeg_planes(const std::vector<uint8_t>& file, int scale, const std::string& method) {
  if (std::system("command -v djpeg > /dev/null 2>&1") != 0) return {};
  const TemporaryFile input(file);
  const std::string output = output_of("djpeg -dct " + method + " -scale 1/" +
                                       std::to_string(scale) + " '" + input.path() + "'");
  // djpeg writes netpbm's header without comments, each number after a single white space.
  char kind = 0;
  int width = 0, height = 0, maximum = 0, header = 0;
  if (std::sscanf(output.c_str(), "P%c %d %d %d%n", &kind, &width, &height, &maximum, &header) != 4)
    throw std::runtime_error("djpeg failed");
  const size_t components = kind == '6' ? 3 : 1, samples = static_cast<size_t>(width) * height;
  const size_t first = static_cast<size_t>(header) + 1;
  if (maximum != 255 || output.size() != first + components * samples)
    throw std::runtime_error("djpeg wrote something else than a PGM or PPM");
  BytePicture picture(components, {width, height, std::vector<uint8_t>(samples)});
  for (size_t i = 0; i < components * samples; ++i)
    picture[i % components].samples[i / components] = static_cast<uint8_t>(output[first + i]);
  return picture;
}

}  // namespace cudatransform::test
