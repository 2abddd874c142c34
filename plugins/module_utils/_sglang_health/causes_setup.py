# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons in what somebody set up: arguments, ports, code, packages."""

from __future__ import annotations

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import FRAME, Cause, row

SETUP: tuple[Cause, ...] = (
    # ---- the command line ------------------------------------------------------------------
    row(
        "argument_unknown",
        r"error: unrecognized arguments: (?P<arguments>.+)$",
        "this SGLang does not know the argument {arguments}",
        "Take it out of the server's arguments, or use the name that this version has (--help lists them).",
        decisive=True,
    ),
    row(
        "argument_ambiguous",
        r"error: ambiguous option: (?P<argument>\S+) could match (?P<options>.+)$",
        "{argument} is no argument of this SGLang, only the beginning of several",
        "Write one of them in full: {options}.",
        decisive=True,
    ),
    row(
        "argument_invalid",
        r"error: argument (?P<argument>-\S+): (?P<why>.+)$",
        "the argument {argument} is wrong: {why}",
        "Correct the value of {argument} in the server's arguments.",
        decisive=True,
    ),
    row(
        "argument_missing",
        r"error: the following arguments are required: (?P<arguments>.+)$",
        "the argument {arguments} is missing",
        "Add it to the server's arguments.",
        decisive=True,
    ),
    # ---- the port --------------------------------------------------------------------------
    row(
        "port_taken",
        r"(?:\[Errno 98\]|[Aa]ddress already in use|EADDRINUSE)",
        "a port that the server needs is taken",
        "Stop the process that holds it, or give the server another port.",
        decisive=True,
    ),
    row(
        "address_not_ours",
        r"\[Errno 99\] error while attempting to bind|server socket .*Cannot assign requested address",
        "the address that the server shall listen on (--host or --dist-init-addr) is not an address of this host",
        "Use an address of this host, 127.0.0.1 or 0.0.0.0.",
        decisive=True,
    ),
    # ---- the code --------------------------------------------------------------------------
    row(
        "syntax_error",
        FRAME + r"(?:(?! *File )[^\n]*\n){0,3}?(?P<kind>SyntaxError|IndentationError|TabError): (?P<why>.*)$",
        "{kind} in {file}, line {line}: {why}",
        "Give the tree its pristine files back (playbook rollback), or repair that line.",
    ),
    row(
        "library_missing",
        r"(?P<library>lib(?:cuda|cudart|nvrtc|nvrtc-builtins|cublas|cublasLt|cudnn|nccl|nvJitLink|cufile|numa|ibverbs)"
        r"\.so[.\d]*): cannot open shared object file",
        "the loader does not find {library}",
        "libcuda.so.1 comes with the driver (or libcuda1), the others with the CUDA packages in the virtual"
        " environment: put the directory on LD_LIBRARY_PATH of the service, or install packages of one CUDA version.",
    ),
    row(
        "glibc_too_old",
        r"version `GLIBC(?:XX)?_(?P<version>[\d.]+)' not found",
        "a compiled package needs glibc or libstdc++ with {version}",
        "Use a distribution with a newer glibc (SGLang 0.5.11 and later need 2.34), or an older SGLang.",
    ),
    row(
        "undefined_symbol",
        r"undefined symbol: (?P<symbol>\S+)",
        "a compiled package was built for another PyTorch or CUDA ({symbol})",
        "Install torch and the kernel packages in the exact versions that this SGLang pins, from one CUDA index.",
    ),
    row(
        "kernel_package_wrong",
        r"\[sgl_kernel\] CRITICAL: Could not load any common_ops library"
        r"|(?:sgl-kernel|sglang-kernel|flashinfer\w*) is installed with version .* is less than the minimum"
        r"|(?:sgl-kernel|sglang-kernel|flashinfer\w*) with minimum required version \S+ is not installed",
        "the kernel package does not belong to this SGLang, CUDA or GPU",
        "Install the versions that this SGLang pins; up to 0.5.9 the package is sgl-kernel, from 0.5.10 on"
        " sglang-kernel, never both.",
    ),
)
