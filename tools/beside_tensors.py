"""Compares pixels and tensors by the Python module with torchvision and Pillow."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import itertools
import os
import threading
import time

import beside_python
from bench_runs import BenchError, take_turns
from bench_tables import print_table

TENSORS = """\
Pictures per second of pixels, and of tensors (3, 224, 224) of normalized float32 for a vision
model: of cudatransform.Reader and decode(), torchvision's decode_jpeg() and resize(), nvImageCodec
and Pillow, where these are installed. Files in memory, cut out of one photograph. With --cuda those
of the GPU as well. The best of all turns."""

SIZES = {"1920x1080": 95, "500x375": 96}  # and the quality
SIDE, COUNT, THEIR_BATCH = 224, 8, 64
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def rate_of(run, seconds):
    """Pictures a second; run() returns how many it has made."""
    run()
    begin, count = time.perf_counter(), 0
    while not count or time.perf_counter() - begin < seconds:
        count += run()
    return count / (time.perf_counter() - begin)


def rate_of_reader(files, seconds, **options):
    ct = beside_python.ct
    batches = iter(ct.Reader(itertools.cycle(files), batch_size=128, output="pixels", **options))

    def run():
        batch = next(batches)
        if batch.failures:
            raise BenchError(str(batch.failures[0]))
        return len(batch)
    for _ in range(3):
        run()
    return rate_of(run, seconds)


def rate_of_threads(work, files, seconds):
    """On a thread of Python for each core."""
    ends, counts = time.perf_counter() + seconds, []

    def run():
        count = 0
        for file in itertools.cycle(files):
            work(file)
            count += 1
            if time.perf_counter() > ends:
                return counts.append(count)
    threads = [threading.Thread(target=run) for _ in os.sched_getaffinity(0)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def one_by_one(work, files):
    files = itertools.cycle(files)

    def run():
        work(next(files))
        return 1
    return run


def our_contestants(files, seconds, device):
    ct = beside_python.ct
    tensors = {"size": (SIDE, SIDE), "dtype": "float32", "layout": "chw", "mean": MEAN,
               "std": STD, "stack": True}
    found = {
        "Reader": lambda: rate_of_reader(files, seconds, device=device),
        "Reader, tensors": lambda: rate_of_reader(files, seconds, device=device, **tensors)}
    if device == "cpu":
        found["decode(), threads"] = lambda: rate_of_threads(ct.decode, files, seconds)
    else:
        found["decode(), one by one"] = lambda: rate_of(
            one_by_one(lambda file: ct.decode(file, device=device), files), seconds)
    return found


def torchvision_contestants(files, seconds, device):
    try:
        import torch
        from torchvision.io import ImageReadMode, decode_jpeg
        from torchvision.transforms.v2 import InterpolationMode
        from torchvision.transforms.v2 import functional
    except (ImportError, OSError, RuntimeError):
        return {}
    torch.set_num_threads(1)
    files = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]
    rgb = ImageReadMode.RGB

    def tensor(pixels):
        small = functional.resize(pixels, [SIDE, SIDE], InterpolationMode.BICUBIC, antialias=True)
        return functional.normalize(small.float() / 255, MEAN, STD)
    if device == "cpu":
        return {
            "torchvision, threads": lambda: rate_of_threads(
                lambda file: decode_jpeg(file, rgb), files, seconds),
            "torchvision, tensors, threads": lambda: rate_of_threads(
                lambda file: tensor(decode_jpeg(file, rgb)), files, seconds)}
    batch = (files * THEIR_BATCH)[:THEIR_BATCH]

    def run(work):
        def made():
            work()
            torch.cuda.synchronize()
            return THEIR_BATCH
        return lambda: rate_of(made, seconds)
    return {
        "torchvision, batches of 64": run(lambda: decode_jpeg(batch, rgb, device="cuda")),
        "torchvision, tensors, batches of 64": run(lambda: torch.stack(
            [tensor(pixels) for pixels in decode_jpeg(batch, rgb, device="cuda")])),
        "torchvision, one by one": lambda: rate_of(
            one_by_one(lambda file: decode_jpeg(file, rgb, device="cuda"), files), seconds)}


def nvimgcodec_contestants(files, seconds):
    try:
        import torch
        from nvidia import nvimgcodec
        decoder = nvimgcodec.Decoder()
    except (ImportError, OSError, RuntimeError):
        return {}
    batch = (files * THEIR_BATCH)[:THEIR_BATCH]

    def made(some):
        images = decoder.decode([nvimgcodec.CodeStream(file) for file in some])
        if any(image is None for image in images):
            raise BenchError("nvImageCodec cannot decode a file")
        torch.cuda.synchronize()
        return len(some)
    each = itertools.cycle(files)
    return {
        "nvImageCodec, batches of 64": lambda: rate_of(lambda: made(batch), seconds),
        "nvImageCodec, one by one": lambda: rate_of(lambda: made([next(each)]), seconds)}


def pillow_contestants(files, seconds):
    try:
        from PIL import Image
    except ImportError:
        return {}

    def pixels(file):
        return Image.open(io.BytesIO(file)).convert("RGB")
    return {
        "Pillow, threads": lambda: rate_of_threads(pixels, files, seconds),
        "Pillow, uint8 of 224x224, threads": lambda: rate_of_threads(
            lambda file: pixels(file).resize((SIDE, SIDE), Image.Resampling.BICUBIC), files,
            seconds)}


def time_tensors(options):
    columns = []
    for size, quality in SIZES.items():
        files = list(beside_python.cut(options.photograph, size, COUNT, quality))
        contestants = {}
        for device in ("cuda", "cpu") if options.cuda else ("cpu",):
            contestants |= {f"{name}, {device}": run for name, run in (
                our_contestants(files, options.seconds, device) |
                torchvision_contestants(files, options.seconds, device)).items()}
        if options.cuda:
            contestants |= nvimgcodec_contestants(files, options.seconds)
        contestants |= pillow_contestants(files, options.seconds)
        rates = take_turns(contestants, [()] * options.turns)
        kilobytes = sum(map(len, files)) // len(files) // 1000
        columns.append((f"{size}, {kilobytes} kB", rates))
    print_table(("pictures/s", *(title for title, _ in columns)),
                [(name, *(f"{max(rates[name]):.0f}" for _, rates in columns))
                 for name in columns[0][1]])


def add_arguments(add):
    parser = add("tensors", TENSORS, beside_python.needs_module(time_tensors))
    parser.add_argument("photograph", help="a JPEG file of 1920x1080 or larger")
    parser.add_argument("--cuda", action="store_true", help="on the GPU as well")
    parser.add_argument("--seconds", type=float, default=1, help="of each turn (1)")
    parser.add_argument("--turns", type=int, default=3)
