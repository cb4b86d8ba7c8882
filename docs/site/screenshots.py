#!/usr/bin/env python3
# ===- screenshots.py - Screenshots of a page of attune explore -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes screenshots of a page of `attune explore`, in light and dark colors, with Chromium without a screen.

usage: screenshots.py CHROMIUM PAGE OUT

OUT gets explore-VIEW-light.png and explore-VIEW-dark.png for each view in VIEWS.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

# The part of the address behind # for each view.
VIEWS = {
    "model": "view=model&module=encoder.layer.1.attention",
    "kernels": "view=kernels",
    "memory": "view=memory",
    "attention": "view=attention",
}
# The value of preferredColorScheme in Chromium's settings.
THEMES = {"dark": 0, "light": 1}


def take(chromium, address, target, theme):
    with tempfile.TemporaryDirectory() as profile:
        # In virtual time, the page has decompressed its data and drawn the view before the picture is taken.
        done = subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2",
             "--window-size=1280,800", "--virtual-time-budget=10000", f"--blink-settings=preferredColorScheme={THEMES[theme]}",
             f"--user-data-dir={profile}", f"--screenshot={target}", address],
            capture_output=True, text=True, errors="replace", timeout=120, check=False)
    if done.returncode or not os.path.exists(target):
        sys.exit(f"screenshots.py: error: {chromium} took no screenshot: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")


def main():
    chromium, page, out = sys.argv[1:4]
    out = os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    for view, place in VIEWS.items():
        for theme in THEMES:
            target = os.path.join(out, f"explore-{view}-{theme}.png")
            pathlib.Path(target).unlink(missing_ok=True)
            take(chromium, pathlib.Path(page).resolve().as_uri() + "#" + place, target, theme)
    print(f"{len(VIEWS) * len(THEMES)} screenshots in {out}")


if __name__ == "__main__":
    main()
