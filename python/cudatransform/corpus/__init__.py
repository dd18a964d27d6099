"""A job over a corpus of JPEG files: `python -m cudatransform.corpus ACTION INPUT OUTPUT`.

actions.py treats a picture, folder.py knows what lies where in OUTPUT, and job.py spreads the work
over processes and machines with Ray Data.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
