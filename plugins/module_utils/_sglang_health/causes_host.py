# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons in the host: driver, GPUs, memory, communication between ranks."""

from __future__ import annotations

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import Cause, row

HOST: tuple[Cause, ...] = (
    # ---- the driver and the GPUs -----------------------------------------------------------
    row(
        "driver_too_old",
        r"(?:NVIDIA driver on your system is too old|CUDA driver version is insufficient for CUDA runtime)",
        "the driver is older than the CUDA that PyTorch was built with",
        "Install a newer driver branch, or an SGLang for the older CUDA (CUDA 13 needs driver 580.65.06).",
    ),
    row(
        "gpu_not_found",
        r"(?:Found no NVIDIA driver|No CUDA GPUs are available|no CUDA-capable device is detected"
        r"|No accelerator \(CUDA.*\) is available)",
        "SGLang sees no GPU",
        "Look at the driver first (playbook doctor), then at CUDA_VISIBLE_DEVICES of the service.",
    ),
    row(
        "gpu_ordinal_invalid",
        r"CUDA error: invalid device ordinal",
        "SGLang was told to use more GPUs than it sees",
        "Lower --tp-size, --dp-size or --base-gpu-id, or widen CUDA_VISIBLE_DEVICES.",
    ),
    row(
        "fabric_not_ready",
        r"(?:CUDA error: system not yet initialized|[Ee]rror 802: system not yet initialized)",
        "the NVLink fabric is not registered (CUDA error 802)",
        "Start the fabric manager in exactly the driver's version, and wait until nvidia-smi says Completed.",
    ),
    row(
        "no_kernel_image",
        r"no kernel image is available for execution on the device",
        "a compiled package has no code for this GPU's compute capability",
        "Install builds for the GPU (Blackwell needs CUDA 12.8 or newer), or choose another attention backend.",
    ),
    row(
        "nvcc_architecture",
        r"(?:nvcc fatal *: Unsupported gpu architecture|ptxas fatal *: Value) '(?P<arch>\w+)'",
        "the CUDA toolkit does not know {arch}",
        "Use a CUDA toolkit that does (12.8 for sm_120 and sm_100, 12.9 for sm_103) and point CUDA_HOME there.",
    ),
    row(
        "nvcc_missing",
        r"(?:Could not find nvcc|nvcc: (?:command )?not found|No such file or directory: '\S*/nvcc')",
        "kernels are compiled at run time, and there is no nvcc",
        "Install a CUDA toolkit and set CUDA_HOME (one directory, no colon) in the environment of the service.",
    ),
    row(
        "kernel_unsupported",
        r"(?:TllmGenFmhaRunner: ?Unsupported architecture|is not supported on (?:sm_?\d+|this GPU))",
        "the chosen backend has no kernel for this GPU",
        "Choose the backend explicitly: --attention-backend flashinfer or triton on sm_120.",
    ),
    row(
        "gpu_lost",
        r"(?:NVRM: Xid \(PCI:[0-9a-fA-F:.]+\): (?P<xid>79|119|120|145|154|175)\b|GPU has fallen off the bus"
        r"|CUDA error: unspecified launch failure due to GPU|Unable to determine the device handle for GPU)",
        "a GPU is lost",
        "Do not restart the service in a loop. Reboot the node; when it comes again: BIOS, power, cooling, driver.",
        decisive=True,
    ),
    # ---- memory ----------------------------------------------------------------------------
    row(
        "memory_fraction_too_small",
        r"Not enough memory\. Please try to increase --mem-fraction-static",
        "after the weights nothing is left of --mem-fraction-static for the KV cache",
        "Raise mem-fraction-static in small steps, or use more GPUs or a smaller model.",
        decisive=True,
    ),
    row(
        "out_of_memory_capture",
        r"Capture cuda graph failed: .*[Oo]ut of memory",
        "CUDA graph capture ran out of GPU memory",
        "Lower --mem-fraction-static (0.8), or the largest captured batch size.",
    ),
    row(
        "gpu_memory_occupied",
        r"memory capacity is unbalanced\. Some GPUs may be occupied",
        "another process holds memory of some GPUs",
        "Find it with nvidia-smi; a sglang::scheduler whose parent is process 1 is an orphan of an earlier server.",
    ),
    row(
        "out_of_memory_gpu",
        r"(?:torch\.(?:cuda\.)?OutOfMemoryError|CUDA out of memory|CUDA error: out of memory"
        r"|CUBLAS_STATUS_ALLOC_FAILED)",
        "the GPU's memory does not suffice",
        "Look for other processes on the GPU (nvidia-smi), then lower --mem-fraction-static,"
        " --max-running-requests or the context length.",
    ),
    row(
        "out_of_memory_host",
        r"(?:^MemoryError\b|Cannot allocate memory|DefaultCPUAllocator: can't allocate memory|std::bad_alloc)",
        "the host's memory does not suffice",
        "Free memory on the host, or lower what SGLang asks for.",
    ),
    row(
        "shared_memory_full",
        r"(?:Bus error|unable to (?:open|allocate) shared memory"
        r"|No space left on device.*/dev/shm|/dev/shm.*No space left)",
        "shared memory (/dev/shm) is too small",
        "Enlarge it (in a container --shm-size or --ipc=host).",
    ),
    row(
        "disk_full",
        r"(?:\[Errno 28\]|No space left on device)",
        "a file system is full",
        "Free space: caches, old releases, logs. df -h and df -i show which file system.",
        decisive=True,
    ),
    row(
        "too_many_open_files",
        r"(?:\[Errno 24\]|Too many open files)",
        "the limit of open files is too low",
        "Set LimitNOFILE in the unit (minfds in supervisor's configuration).",
    ),
    # ---- communication ---------------------------------------------------------------------
    row(
        "nccl_timeout",
        r"(?:Watchdog caught collective operation timeout|NCCL.*(?:timed? ?out|timeout)|ncclRemoteError"
        r"|Timed out after \d+ seconds waiting for clients|DistStoreError: Timed out)",
        "the ranks do not reach each other",
        "On GPUs without NVLink try NCCL_P2P_DISABLE=1 (ACS, IOMMU); between nodes check --dist-init-addr, the"
        " firewall and NCCL_SOCKET_IFNAME.",
    ),
    row(
        "nccl_error",
        r"(?:ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage|DistBackendError)",
        "NCCL cannot be initialized",
        "Set NCCL_DEBUG=INFO in the environment of the service and read the lines before the error.",
    ),
    row(
        "watchdog",
        r"(?:[Ww]atchdog timeout \(|Watchdog TIMEOUT)",
        "SGLang's own watchdog ended a scheduler that made no progress",
        "When kernels are compiled at the first start, raise --watchdog-timeout; else look for a hang (NCCL, GPU).",
    ),
)
