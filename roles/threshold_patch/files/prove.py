# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does SGLang run with the patch? Run as `PYTHON -I - ROOT OPTION` with this file as input.

Three things, in one process because each alone imports most of SGLang: the interpreter finds SGLang inside ROOT, its
worker imports and has the hook, and the server's own parser knows OPTION. The last line of the output is JSON.
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys


def main():
    root, option = sys.argv[1:]
    spec = importlib.util.find_spec("sglang")
    origin = spec.origin if spec else None
    # Links on the way to a release are fine; the real files decide.
    if origin is None or pathlib.Path(root).resolve() not in pathlib.Path(origin).resolve().parents:
        sys.exit(f"this interpreter imports sglang from {origin}, not from {root}: the patch would have no effect")

    from sglang.srt.speculative.eagle_worker_v2 import EAGLEWorkerV2

    if not hasattr(EAGLEWorkerV2, "batch_threshold"):
        sys.exit("the imported worker has no hook: another file, or stale bytecode, was imported")

    from sglang.srt.server_args import ServerArgs, prepare_server_args

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            prepare_server_args(["--help"])
        except SystemExit as end:
            if end.code:
                sys.exit(f"the server's --help exits {end.code}")
    if option not in said.getvalue().replace("\n", " ").split():
        sys.exit(f"the server's --help does not name {option}")
    default = getattr(ServerArgs, option.lstrip("-").replace("-", "_"))
    print(json.dumps({"origin": origin, "option": option, "default": default}))


main()
