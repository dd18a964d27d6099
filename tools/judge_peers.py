"""Encoders and metrics that tools/judge-sizes compares, each where this machine has it; a sheet."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.metadata
import io
import os
import shutil
import subprocess
import tempfile

import numpy
from bench_runs import BenchError
from PIL import Image, ImageDraw, features

BASE = "libjpeg-turbo"
SUBSAMPLINGS = {"4:2:0": 2, "4:4:4": 0}  # as Pillow numbers them


class Missing(Exception):
    """An encoder or a metric that this machine lacks; the text says what to install."""


def version_of(package):
    return f"{package} {importlib.metadata.version(package)}"


def debian_version(package):
    """The package with its version; without it where the system is no Debian."""
    text = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) if shutil.which(
                              "dpkg-query") else None
    return f"{package} {text.stdout}" if text and text.returncode == 0 else package


# ---- Encoders: functions that return their version, and encode pixels at a quality ----

def libjpeg_turbo(sampling):
    if not features.check_feature("libjpeg_turbo"):
        raise Missing("Pillow has another libjpeg")

    def encode(pixels, quality):
        made = io.BytesIO()
        Image.fromarray(pixels).save(made, "JPEG", quality=quality, optimize=True,
                                     subsampling=SUBSAMPLINGS[sampling])
        return made.getvalue()
    return f"libjpeg-turbo {features.version('libjpeg_turbo')}", encode


def ours(preset, quantizer):
    """The Python module with that preset and that quantizer."""
    def start(sampling):
        try:
            import cudatransform
        except Exception as error:
            raise Missing(f"the Python module (docs/python.md): {error}") from error

        def encode(pixels, quality):
            return cudatransform.encode(pixels, quality=quality, subsampling=sampling,
                                        qtables=preset, quantizer=quantizer, optimize=True)
        return f"cudatransform {cudatransform.__version__}", encode
    return start


def mozjpeg(sampling):
    try:
        import pyvips
        version = version_of("pyvips-binary")
    except (ImportError, OSError) as error:
        raise Missing(f"PyPI's pyvips and pyvips-binary: {error}") from error

    def encode(pixels, quality):
        return pyvips.Image.new_from_array(pixels).jpegsave_buffer(
            Q=quality, optimize_coding=True, trellis_quant=True, quant_table=3, keep="none",
            subsample_mode="on" if sampling == "4:2:0" else "off")
    return f"mozjpeg of {version}", encode


def jpegli(sampling):
    """cjpegli where it is, else PyPI's pyjpegli, which makes 4:2:0 alone."""
    if shutil.which("cjpegli"):
        def run(pixels, quality):
            picture = ppm_of(pixels)
            return subprocess.run(
                ["cjpegli", "-", "-", "-p", "0", "-q", str(quality),
                 f"--chroma_subsampling={sampling.replace(':', '')}"], input=picture, check=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return "jpegli: cjpegli of PATH", run
    try:
        import pyjpegli
        version = version_of("pyjpegli")
    except ImportError as error:
        raise Missing(f"cjpegli on PATH, or PyPI's pyjpegli: {error}") from error
    if sampling != "4:2:0":
        raise Missing(f"cjpegli on PATH: pyjpegli makes no {sampling}")

    def encode(pixels, quality):
        import cudatransform
        height, width = pixels.shape[:2]
        made = pyjpegli.encode(pixels.tobytes(), width, height, quality)
        # It has the standard's Huffman tables.
        return cudatransform.write(cudatransform.read(made), optimize=True)
    return f"jpegli of {version}", encode


ENCODERS = {
    BASE: libjpeg_turbo,
    "annex-k, round": ours("annex-k", "round"),
    "perceptual, round": ours("perceptual", "round"),
    "perceptual, dead-zone": ours("perceptual", "dead-zone"),
    "perceptual, rd": ours("perceptual", "rd"),
    "mozjpeg": mozjpeg,
    "jpegli": jpegli,
}


# ---- Metrics: functions that return their version, and compare two pictures ----

FILES = ("original.ppm", "decoded.ppm")


def ppm_of(pixels):
    return b"P6\n%d %d\n255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes()


def write_ppm(path, pixels):
    with open(path, "wb") as file:
        file.write(ppm_of(pixels))


def ssimulacra2():
    try:
        from ssimulacra2 import compute_ssimulacra2
        version = version_of("ssimulacra2")
    except ImportError as error:
        raise Missing(f"PyPI's ssimulacra2: {error}") from error
    return f"SSIMULACRA2 of {version}", lambda paths, _: compute_ssimulacra2(*paths)


def butteraugli():
    if not shutil.which("butteraugli_main"):
        raise Missing("butteraugli_main on PATH: Debian's libjxl-devtools")

    def measure(paths, _):
        text = subprocess.run(["butteraugli_main", *paths, "--pnorm", "3"], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return float(text.rpartition("3-norm:")[2])
    return f"Butteraugli of {debian_version('libjxl-devtools')}", measure


def psnr_of(change):
    def measure(_, pixels):
        from cudatransform import psnr
        return psnr(*(change(array.astype(float)) for array in pixels), data_range=255)
    return measure


METRICS = {
    "ssimulacra2": ssimulacra2,
    "butteraugli": butteraugli,
    "psnr": lambda: ("", psnr_of(lambda rgb: rgb)),
    "psnr_y": lambda: ("", psnr_of(lambda rgb: rgb @ (0.299, 0.587, 0.114))),
}


def found(makers, attempt, *arguments):
    """({name: function}, [versions], [sentences on the missing ones]).

    attempt: called with each function, which is left out where that fails
    """
    functions, versions, missing = {}, [], []
    for name, make in makers.items():
        try:
            version, function = make(*arguments)
            attempt(function)
        except Missing as error:
            missing.append(f"{name} is left out. It needs {error}")
        except Exception as error:  # of packages that do not go together
            missing.append(f"{name} is left out. It fails: {error!r}")
        else:
            functions[name] = function
            versions += [version] if version and version not in versions else []
    return functions, versions, missing


def found_encoders(sampling):
    gray = numpy.full((64, 64, 3), 128, numpy.uint8)
    return found(ENCODERS, lambda encode: decode(encode(gray, 80)), sampling)


def found_metrics():
    pixels = [numpy.arange(start, start + 64 * 64 * 3, dtype=numpy.uint8).reshape(64, 64, 3)
              for start in (0, 1)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in FILES]
        for path, picture in zip(paths, pixels):
            write_ppm(path, picture)
        return found(METRICS, lambda metric: metric(paths, pixels))


def decode(data):
    """Pixels of a file, by libjpeg-turbo, whoever has made it."""
    return numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def measure(metrics, folder, pixels, data):
    """{metric: value} of a file. `folder` has the original picture, and takes the decoded one."""
    paths = [os.path.join(folder, name) for name in FILES]
    decoded = decode(data)
    write_ppm(paths[1], decoded)
    return {name: metrics[name](paths, (pixels, decoded)) if name in metrics else None
            for name in METRICS}


# ---- A sheet of crops for visual comparison: metrics disagree ----

SHOWN = ("perceptual, rd", BASE, "mozjpeg")
CROP = (160, 112)  # pixels, shown twice as wide and high
GAP, BAR = 6, 20


def largest_within(encode, pixels, size):
    """The file of the highest quality that has at most `size` bytes, and its quality."""
    low, high, best = 1, 100, None
    while low <= high:
        middle = (low + high) // 2
        data = encode(pixels, middle)
        if len(data) <= size:
            low, best = middle + 1, (data, middle)
        else:
            high = middle - 1
    if best is None:
        raise BenchError(f"no quality makes a file of {size} bytes")
    return best


def columns_of(pixels, encoders, quality):
    """[(label, picture)]: the original, and files of the base's bytes at that quality."""
    size = len(encoders[BASE](pixels, quality))
    columns = [("original", Image.fromarray(pixels))]
    for name in SHOWN:
        if name in encoders:
            data, found = largest_within(encoders[name], pixels, size)
            columns.append((f"{name}: quality {found}, {len(data)} bytes",
                            Image.fromarray(decode(data))))
    return columns


def draw_sheet(path, pictures, encoders, crops, quality):
    """crops: (picture, left, top) of each row."""
    from demo_pictures import font  # needs matplotlib
    rows = []
    for name, left, top in crops:
        if name not in pictures:
            raise BenchError(f"no picture is called {name!r}")
        box = (left, top, left + CROP[0], top + CROP[1])
        rows.append([(label, picture.crop(box).resize((2 * CROP[0], 2 * CROP[1]), Image.NEAREST))
                     for label, picture in columns_of(pictures[name], encoders, quality)])
    across, down = 2 * CROP[0] + GAP, 2 * CROP[1] + BAR
    sheet = Image.new("RGB", (across * len(rows[0]) - GAP, down * len(rows)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, cells in enumerate(rows):
        for column, (label, picture) in enumerate(cells):
            pen.text((column * across + 2, row * down + 2), label, fill="black", font=font(13))
            sheet.paste(picture, (column * across, row * down + BAR))
    sheet.save(path, "JPEG", quality=82, optimize=True, progressive=True, subsampling=0)
