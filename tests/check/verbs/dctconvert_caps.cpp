// cudadctconvert's caps: the cheapest way, and the elements that need a conversion.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/verbs/levels.h"

namespace {

using namespace testing;

// The cheapest of what the peer takes: nothing, or less.
CHECK_TEST(test_cheapest_way) {
  const struct {
    const char *from, *peer, *chosen;
  } cases[] = {
      {"quantized=true,format=S16LE,layout=plane,order=raster", "video/x-dct(ANY)",
       "quantized=true,format=S16LE,layout=plane,order=raster"},
      {"quantized=true,format=S16LE,layout=plane,order=raster",
       "video/x-dct(ANY),layout={(string)band,(string)block}",
       "quantized=true,format=S16LE,layout=block,order=raster"},
      {"quantized=true,format=S16LE,layout=block,order=zigzag", "video/x-dct(ANY),layout=band",
       "quantized=true,format=S16LE,layout=band,order=zigzag"},
      {"quantized=false,format=F16LE,layout=band,order=zigzag",
       "video/x-dct(ANY),layout={(string)plane,(string)block}",
       "quantized=false,format=F16LE,layout=block,order=zigzag"},
      {"quantized=true,format=S16LE,layout=block,order=raster",
       "video/x-dct(ANY),format={(string)F16LE,(string)F32LE}",
       "quantized=false,format=F32LE,layout=block,order=raster"},
      // Halves are exact in single precision; integers would round them.
      {"quantized=false,format=F16LE,layout=block,order=raster",
       "video/x-dct(ANY),format={(string)S32LE,(string)F32LE}",
       "quantized=false,format=F32LE,layout=block,order=raster"},
      {"quantized=false,format=F16LE,layout=block,order=raster",
       "video/x-dct(ANY),format=S32LE,quantized=false;video/x-dct(ANY),format=F32LE,order=zigzag",
       "quantized=false,format=F32LE,layout=block,order=zigzag"},
      // A peer in blocks, too, that is nearer.
      {"quantized=true,format=S16LE,layout=block,order=zigzag",
       "video/x-dct(ANY),quantized=false,layout=band;video/x-dct(ANY),quantized=true,layout=plane",
       "quantized=true,format=S16LE,layout=plane,order=raster"},
  };
  for (const auto& test : cases) {
    const std::string fields =
        ",depth=8,sampling=(string)YCbCr-4:2:0,colorspace=sYUV,width=40,height=24,framerate=30/1";
    g_autoptr(GstHarness) h =
        new_harness(verb("cudadctconvert") + " ! capsfilter caps=\"" + test.peer + "\"");
    gst_harness_set_src_caps(
        h, gst_caps_from_string((std::string("video/x-dct,") + test.from + fields).c_str()));
    g_autoptr(GstCaps) chosen = current_caps(h);
    fail_unless(chosen != nullptr, "%s", test.from);
    g_autoptr(GstCaps) wanted =
        gst_caps_from_string((std::string("video/x-dct,") + test.chosen + fields).c_str());
    fail_unless(gst_caps_is_equal(chosen, wanted), "%s: %s", test.from, gst_caps_to_string(chosen));
  }
}

// Elements that take no bands, or no halves, are asked in vain.
CHECK_TEST(test_others_refuse) {
  const struct {
    std::string element;
    bool takes_halves;
  } cases[] = {{inverse(), false},
               {"jpegcoefenc", false},
               {verb("cudadctflip"), true},
               {verb("cudadctquant"), false}};
  GstDctInfo bands, halves;
  fail_unless(gst_dct_info_set(&bands, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BAND,
                               GST_DCT_ORDER_ZIGZAG, TRUE, 8, GST_COEF_SAMPLING_420, 64, 48,
                               nullptr));
  fail_unless(gst_dct_info_set(&halves, GST_COEF_FORMAT_F16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_420, 64, 48,
                               nullptr));
  for (const auto& test : cases) {
    fail_unless(refuses_caps(test.element, gst_dct_info_to_caps(&bands)), "%s",
                test.element.c_str());
    fail_unless(refuses_caps(test.element, gst_dct_info_to_caps(&halves)) != test.takes_halves,
                "%s", test.element.c_str());
  }
}

}  // namespace
