#!/usr/bin/python3
# The library through its typelib: names, caps to geometry, a meta with tables, validate's reasons.
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstCoef", "1.0")
    from gi.repository import GLib, GObject, Gst, GstCoef
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(77)

CAPS = ("video/x-dct,format=S16LE,layout=block,order=zigzag,quantized=true,depth=8,"
        "sampling=YCbCr-4:2:0,colorspace=sYUV,width=17,height=33,framerate=25/1")


WAVELET_CAPS = ("video/x-dwt,format=S16LE,wavelet=legall53,wavelet-ho=haar,levels=2,levels-ho=1,"
                "quantized=true,depth=8,sampling=YCbCr-4:2:0,colorspace=sYUV,width=17,height=33,"
                "framerate=25/1")


def check_types():
    """Everything that a property or a signal could hold has a GType, under a name without Gst."""
    for name in ("Fence", "SyncPoint", "DctInfo", "DctComponent", "DwtInfo", "DwtComponent",
                 "DwtBand"):
        gtype = getattr(GstCoef, name).__gtype__
        assert gtype.is_a(GObject.TYPE_BOXED) and gtype.name in (f"Gst{name}", f"GstCoef{name}")
    for name in ("Format", "DctLayout", "DctOrder", "Sampling", "DwtWavelet", "DwtOrientation"):
        assert getattr(GstCoef, name).__gtype__.is_a(GObject.TYPE_ENUM), name
    assert GstCoef.DctJpegIrregularity.__gtype__.is_a(GObject.TYPE_FLAGS)
    assert GstCoef.DCT_MAX_COMPONENTS == 4
    assert GstCoef.fence_api_get_type().name == "GstCoefFenceAPI"


def check_info(caps):
    ok, info, reason = GstCoef.DctInfo.from_caps(caps)
    assert ok and reason is None and info.size == 3456 and info.n_components == 3
    assert info.to_caps().is_equal(caps)
    copy = info.copy()
    chroma = info.get_component(1)
    del info
    assert (chroma.width, chroma.blocks_h, chroma.offset) == (9, 3, 1920)
    assert copy.get_component(3) is None and copy.sampling == GstCoef.Sampling(2)
    assert GstCoef.DctInfo.new().n_components == 0
    ok, _info, reason = GstCoef.DctInfo.from_caps(Gst.Caps.from_string(
        CAPS.replace("format=S16LE", "format=F32LE")))
    assert not ok and "format=F32LE with quantized=true at depth=8" in reason, reason
    return copy


def check_meta(info):
    buffer = Gst.Buffer.new_allocate(None, info.size, None)
    assert GstCoef.buffer_get_dct_meta(buffer) is None
    GstCoef.buffer_add_dct_meta(buffer, info)
    meta = GstCoef.buffer_get_dct_meta(buffer)
    ok, reason = meta.validate(info, buffer.get_size())
    assert not ok and "0 quantization tables" in reason, reason
    for table in range(2):
        assert meta.set_table(table, list(range(1, 65)))
    assert meta.get_table(0, GstCoef.DctOrder.RASTER) == list(range(1, 65))
    assert meta.get_table(1, GstCoef.DctOrder.ZIGZAG)[:6] == [1, 2, 9, 17, 10, 3]
    assert meta.get_component(2).table == 1
    ok, reason = meta.validate(info, buffer.get_size())
    assert ok and reason is None

    fence = GstCoef.Fence.new()
    assert fence.wait_written(None) and fence.wait_read(None)
    meta.set_fence(fence)
    copy = buffer.copy_deep()
    assert GstCoef.buffer_get_dct_meta(copy).n_tables == 2
    return buffer


def check_wavelets(caps):
    ok, info, reason = GstCoef.DwtInfo.from_caps(caps)
    assert ok and reason is None and info.size == 3008 and info.get_n_bands() == 8
    assert info.to_caps().is_equal(caps)
    ok, band = info.get_band(1, 2)
    assert ok and (band.x, band.y, band.width, band.height) == (4, 0, 4, 5)
    assert band.orientation == GstCoef.DwtOrientation.HL and band.level == 2
    assert info.get_component(2).padded_width == 16
    assert GstCoef.DwtWavelet.from_string("daub97") == (True, GstCoef.DwtWavelet.DAUB97)
    buffer = Gst.Buffer.new_allocate(None, info.size, None)
    meta = GstCoef.buffer_add_dwt_meta(buffer, info)
    assert meta.set_quant_index(0, 7, 30) and meta.get_quant_index(0, 7) == 30
    ok, reason = meta.validate(info, buffer.get_size())
    assert ok and reason is None
    ok, reason = meta.validate(info, buffer.get_size() - 1)
    assert not ok and "exceeds the buffer of 3007 bytes" in reason, reason
    ok, _info, reason = GstCoef.DwtInfo.from_caps(Gst.Caps.from_string(
        WAVELET_CAPS.replace("levels=2", "levels=7")))
    assert not ok and "levels=7, expected 0 to 6" in reason, reason


def check_jpeg_meta(buffer):
    assert GstCoef.buffer_get_dct_jpeg_meta(buffer) is None
    segments = b"\xff\xfe\x00\x04hi"
    GstCoef.buffer_add_dct_jpeg_meta(buffer, GLib.Bytes.new(segments))
    copy = buffer.copy_deep()
    assert GstCoef.buffer_get_dct_jpeg_meta(copy).segments.get_data() == segments
    assert GstCoef.buffer_get_dct_jpeg_meta(copy).irregular == GstCoef.DctJpegIrregularity.REGULAR
    part = buffer.copy_region(Gst.BufferCopyFlags.META | Gst.BufferCopyFlags.MEMORY, 1, 8)
    assert GstCoef.buffer_get_dct_jpeg_meta(part) is None
    meta = GstCoef.buffer_get_dct_jpeg_meta(buffer)
    assert meta.get_trailer() is None
    assert meta.set_trailing(GLib.Bytes.new(b"behind"), None)
    assert meta.get_trailer().get_data() == b"behind"
    assert meta.get_attachment(0) is None
    copy = buffer.copy_deep()
    assert GstCoef.buffer_get_dct_jpeg_meta(copy).get_trailer().get_data() == b"behind"


def main():
    Gst.init(None)
    check_types()
    check_jpeg_meta(check_meta(check_info(Gst.Caps.from_string(CAPS))))
    check_wavelets(Gst.Caps.from_string(WAVELET_CAPS))
    print("ok")


if __name__ == "__main__":
    main()
