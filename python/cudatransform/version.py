"""The version, which is the plugin's."""
# SPDX-License-Identifier: LGPL-2.1-or-later
VERSION = "1.0.0"
