"""The main job of tools/demo: FILE through both elements at many qualities, table and pictures.

demo.py FILE OUTPUT_FOLDER
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import sys

import cudatransform
import demo_jpeg
import demo_pictures
import demo_pipelines
from demo_pipelines import DemoError, MissingDecoder

QUALITIES = (10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95)
SHOWN_QUALITY = 20  # low enough that a reader sees the blocks
VIDEO_FRAMES = 100
MISSING_DECODER = 3  # the exit status that tools/demo expects
WAVELET_LEVELS = 3  # few enough to see the smallest band
STILL_FRAMES = 20  # a still is repeated, so that its times are means


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:.1f}"


def print_table_head():
    print("quality     PSNR        Y        U        V   zeros   forward   inverse")
    print("              dB       dB       dB       dB       %  us/frame  us/frame")


def print_row(quality, forward, inverse):
    # A gray picture has no U and V: their PSNR stays at "not measured".
    psnr = [forward[f"psnr{plane}-global"] for plane in ("", "-y", "-u", "-v")]
    cells = "".join(f"{value:9.2f}" if value >= 0 else "        -" for value in psnr)
    print(f"{quality:7d}{cells}{100 * forward['zeros-mean']:8.2f}"
          f"{microseconds(forward['kernel-time-mean']):>10}"
          f"{microseconds(inverse['kernel-time-mean']):>10}", flush=True)


def run_qualities(media):
    print_table_head()
    rows = []
    for quality in QUALITIES:
        forward, inverse = demo_pipelines.measure(media, quality)
        print_row(quality, forward, inverse)
        rows.append((quality, forward, inverse))
    return rows


def describe(media):
    kind = "picture" if media.still else "video"
    frames = f"repeated {media.frames} times" if media.still else f"the first {media.frames} frames"
    if not media.still and media.frames < VIDEO_FRAMES:
        frames = f"all of its {media.frames} frames"
    print(f"{kind} {media.path}")
    print(f"  {media.width} x {media.height}, decoded as {media.decoded_format}, "
          f"transformed as {media.format}; {frames}\n")


def probe(path, jpeg):
    """A JPEG file goes through our decoder if that accepts it, all else through GStreamer's."""
    decode = demo_pipelines.DECODE_JPEG if jpeg else demo_pipelines.DECODE
    return demo_pipelines.probe(path, decode, VIDEO_FRAMES, STILL_FRAMES)


def print_engine(rows):
    forward, inverse = rows[-1][1:]
    count = len(rows)
    means = [sum(row[side]["kernel-time-mean"] for row in rows) / count / 1e6 for side in (1, 2)]
    print(f"\nEngine: {forward['backend']}, {forward['device']}; method {forward['method']}.")
    print(f"Time per frame, mean over all rows: forward {means[0]:.3f} ms, "
          f"inverse {means[1]:.3f} ms.")
    copies = [(name, stats[f"{name}-time-mean"] / 1e6)
              for name, stats in (("upload", forward), ("download", inverse))
              if stats[f"{name}-time-mean"] != demo_pipelines.Gst.CLOCK_TIME_NONE]
    if copies:
        text = ", ".join(f"{name} {time:.3f} ms" for name, time in copies)
        print(f"Copies between the host and the GPU at the ends of the pipeline: {text}.")


def print_remark(media, rows):
    sentence = demo_jpeg.why_so_high([(row[0], row[1]["psnr-global"]) for row in rows],
                                     media.decode == demo_pipelines.DECODE_JPEG)
    if sentence:
        print(f"\n{sentence}")


def write_pictures(media, rows, folder):
    os.makedirs(folder, exist_ok=True)
    source, reconstruction = demo_pipelines.source_and_reconstruction(media, SHOWN_QUALITY)
    psnr = next(row[1]["psnr-global"] for row in rows if row[0] == SHOWN_QUALITY)
    if not media.still:
        psnr = None  # the table's is that of all frames, the picture shows one
    coefficients = demo_pipelines.coefficients(media, SHOWN_QUALITY, quantized=False)
    levels = demo_pipelines.coefficients(media, SHOWN_QUALITY, quantized=True)
    paths = [os.path.join(folder, name)
             for name in ("triptych.png", "coefficients.png", "pyramid.png", "quality.png")]
    demo_pictures.triptych(paths[0], source, reconstruction, SHOWN_QUALITY, psnr)
    demo_pictures.coefficients(paths[1], source, coefficients, levels, SHOWN_QUALITY)
    pyramid = demo_pipelines.pyramid(media, WAVELET_LEVELS)
    demo_pictures.two_transforms(paths[2], coefficients, pyramid, WAVELET_LEVELS)
    demo_pictures.quality_plot(paths[3], [(quality, stats["psnr-global"], stats["zeros-mean"])
                                          for quality, stats, _ in rows])
    print(f"\nQuality {SHOWN_QUALITY}: source, reconstruction, difference   {paths[0]}")
    print(f"The picture's coefficients                     {paths[1]}")
    print(f"The same beside a wavelet transform's          {paths[2]}")
    print(f"PSNR and share of zeros against quality        {paths[3]}")
    write_chroma(source, os.path.join(folder, "chroma.png"))


def write_chroma(source, path):
    """The two ways to make pixels of a file of the picture with chroma of half the size."""
    if source.ndim != 3 or min(source.shape[:2]) < 8:
        return
    data = cudatransform.encode(source, quality=95, subsampling="4:2:0")
    demo_pictures.chroma(path, cudatransform.decode(data),
                         cudatransform.decode(data, upsampling="nearest"))
    print(f"Its chroma by triangle filters, and repeated   {path}")


def main(path, folder):
    try:
        jpeg = demo_jpeg.read(path)
        media = probe(path, jpeg)
        describe(media)
        through_ours = media.still and media.decode == demo_pipelines.DECODE_JPEG
        if through_ours:
            demo_jpeg.describe(jpeg)
        rows = run_qualities(media)
        print_engine(rows)
        print_remark(media, rows)
        if through_ours:
            demo_jpeg.write_again(jpeg, folder)
        write_pictures(media, rows, folder)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return MISSING_DECODER if isinstance(error, MissingDecoder) else 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
