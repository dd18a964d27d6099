#!/usr/bin/python3
"""Removes noise from a picture by making small wavelet coefficients smaller, in numpy.

usage: denoise_wavelets.py FILE [STRENGTH [OUT.png]]

Takes the brightness of the first picture in FILE, adds noise of a standard deviation of STRENGTH
(default: 15), removes it, and prints the PSNR of both against the picture without noise. OUT.png
shows noisy and denoised picture side by side. Needs python3-gi, python3-numpy, the typelib of
libgstcoef-1.0 and the plugin: `meson devenv -C build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCoef", "1.0")
from gi.repository import GLib, Gst, GstCoef  # noqa: E402
import numpy  # noqa: E402

import pyramid_to_png  # noqa: E402

WAVELET = "cudadwt wavelet=daub97 levels=4 ! video/x-dwt"


def through(elements, caps, buffer):
    """The sample that elements make of a buffer."""
    pipeline = Gst.parse_launch(f"appsrc name=source format=time ! {elements} ! "
                                "appsink name=sink sync=false")
    source = pipeline.get_by_name("source")
    source.set_property("caps", caps)
    pipeline.set_state(Gst.State.PLAYING)
    source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    return pyramid_to_png.pull(pipeline)


# Rows of gray pictures in memory are a multiple of 4 bytes apart.
def read_gray(path):
    pipeline = Gst.parse_launch("filesrc name=file ! decodebin ! videoconvert ! "
                                "video/x-raw,format=GRAY8 ! appsink name=sink sync=false")
    pipeline.get_by_name("file").set_property("location", path)
    return gray_of(pyramid_to_png.pull(pipeline))


def gray_of(sample):
    caps = sample.get_caps().to_string()
    width, height = (int(caps.split(f"{key}=(int)")[1].split(",")[0].rstrip(";"))
                     for key in ("width", "height"))
    buffer = sample.get_buffer()
    data = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8)
    return data.reshape(height, -1)[:, :width].astype(float)


def pyramid_of(gray):
    """The coefficients of a picture, and how they are arranged."""
    height, width = gray.shape
    rows = numpy.zeros((height, (width + 3) // 4 * 4), numpy.uint8)
    rows[:, :width] = gray.round().clip(0, 255)
    caps = Gst.Caps.from_string(f"video/x-raw,format=GRAY8,width={width},height={height},"
                                "framerate=1/1")
    sample = through(WAVELET, caps, Gst.Buffer.new_wrapped(rows.tobytes()))
    _ok, info, _reason = GstCoef.DwtInfo.from_caps(sample.get_caps())
    return info, pyramid_to_png.coefficients_of(info, sample.get_buffer(), 0)


def picture_of(info, pyramid):
    """The picture that has these coefficients."""
    buffer = Gst.Buffer.new_wrapped(pyramid.round().astype("<i2").tobytes())
    GstCoef.buffer_add_dwt_meta(buffer, info)
    return gray_of(through("cudaidwt ! video/x-raw", info.to_caps(), buffer))


def denoise(noisy, strength):
    """Makes each coefficient smaller: the more, the weaker its band is beside the noise."""
    info, pyramid = pyramid_of(noisy)
    # A picture of noise alone tells the strength of the noise in each band.
    noise = numpy.random.default_rng(2).normal(128, strength, noisy.shape)
    noise_bands = list(pyramid_to_png.bands_of(info, pyramid_of(noise)[1], 0))
    for (band, values), (_band, of_noise) in zip(pyramid_to_png.bands_of(info, pyramid, 0),
                                                 noise_bands):
        if band.level == 0:
            continue  # the picture made small: no detail, little noise
        power = numpy.var(of_noise)
        threshold = power / numpy.sqrt(max(numpy.mean(values.astype(float)**2) - power, 1e-6))
        values[:] = numpy.sign(values) * (abs(values.astype(float)) - threshold).clip(0).round()
    return picture_of(info, pyramid)


def psnr(a, b):
    return 10 * numpy.log10(255**2 / numpy.mean((a - b)**2))


def main(path, strength=15, out=None):
    Gst.init(None)
    try:
        clean = read_gray(path)
        noise = numpy.random.default_rng(1).normal(0, float(strength), clean.shape)
        noisy = (clean + noise).round().clip(0, 255)
        denoised = denoise(noisy, float(strength))
    except (ValueError, GLib.Error) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"noisy {psnr(clean, noisy):.2f} dB, denoised {psnr(clean, denoised):.2f} dB")
    if out:
        pyramid_to_png.write_png(out, numpy.hstack([noisy, denoised]).astype(numpy.uint8))
    return 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
