#!/usr/bin/env python3
# ===- stage.py - The pages of the site in one folder ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies the pages of the repository and the generated references into one folder, with a configuration for mkdocs beside it.

usage: stage.py ROOT REFERENCE OUT [SCREENSHOTS]

OUT/pages gets the pages: those of docs/ at the top, the others of the repository under their path, the references in reference/.
Links between pages are kept; a link to a file that is no page becomes its name. A line `<!-- screenshot: NAME, TEXT -->` becomes the
picture NAME-light.png, or NAME-dark.png where readers prefer dark colors, if the folder SCREENSHOTS has both. OUT/mkdocs.yml lists the
pages. Prints their number; a link that leads nowhere is an error.
"""
import html
import os
import re
import shutil
import sys

GUIDES = ["first-model", "chat", "embed", "tasks", "text", "ranks", "scale", "first-op", "first-pass", "add-a-family",
          "debug-a-wrong-number", "explain-a-compilation", "tune-a-kernel"]
FACTS = ["architecture", "model-folders", "numerics", "reference-versions", "formats", "glossary", "limits", "measurements"]
OTHERS = [
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "dialect/RATIONALE.md",
    "dialect/ATTENTION.md",
    "bench/README.md",
    "compiler/Target/NVVM/README.md",
    "compiler/Target/Halide/README.md",
    "runtime/README.md",
    "test/fixtures/README.md",
    "test/GoldenBuilder/README.md",
    "test/BadInput/README.md",
    "test/FakeCuda/README.md",
    "examples/hello/README.md",
    "examples/complete/README.md",
    "examples/chat/README.md",
    "examples/translate/README.md",
    "examples/embed/README.md",
    "examples/search/README.md",
    "examples/rerank/README.md",
    "examples/configs/README.md",
    "examples/seeds/README.md",
]
IMAGES = ["phases.svg", "docs/quality.svg"]


def read_title(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("# "):
                return line[2:].strip()
    sys.exit(f"{path}: expected a heading")


class Site:
    def __init__(self, root, reference, out, screenshots=None):
        self.root, self.reference, self.out, self.screenshots = root, reference, out, screenshots
        self.pages = os.path.join(out, "pages")
        # From a path in the repository to the path in the site.
        self.places = {f"docs/{name}.md": f"{name}.md" for name in ["index"] + GUIDES + FACTS}
        self.places.update({path: path.replace("README.md", "page.md") for path in OTHERS + IMAGES})

    def rewrite(self, path, text):
        """Returns |text|, of the page |path| in the repository, with links as they are in the site."""

        def link(found):
            words, target = found.group(1), found.group(2)
            if re.match(r"[a-z]+:|#", target):
                return found.group(0)
            file, _, anchor = target.partition("#")
            source = os.path.normpath(os.path.join(os.path.dirname(path), file))
            if not os.path.exists(os.path.join(self.root, source)):
                sys.exit(f"{path}: the link to {target} leads nowhere")
            if source not in self.places:
                return words
            place = os.path.relpath(self.places[source], os.path.dirname(self.places[path]))
            return f"[{words}]({place}{'#' + anchor if anchor else ''})"

        blocks = re.split(r"(^ *```.*?^ *```)", text, flags=re.S | re.M)
        return "".join(block if i % 2 else re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, block) for i, block in enumerate(blocks))

    def show_screenshots(self, place, text):
        """Returns |text|, of the page |place| of the site, with pictures in place of the comments that name them."""

        def picture(found):
            name, description = found.groups()
            files = [f"{name}-{theme}.png" for theme in ("light", "dark")]
            if not self.screenshots or not all(os.path.exists(os.path.join(self.screenshots, file)) for file in files):
                return ""
            folder = os.path.join(self.pages, "screenshots")
            os.makedirs(folder, exist_ok=True)
            for file in files:
                shutil.copyfile(os.path.join(self.screenshots, file), os.path.join(folder, file))
            light, dark = (os.path.relpath(f"screenshots/{file}", os.path.dirname(place) or ".") for file in files)
            return (f'<p><picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
                    f'<img src="{light}" alt="{html.escape(description)}"></picture></p>\n')

        return re.sub(r"^<!-- screenshot: ([\w-]+), (.*) -->\n", picture, text, flags=re.M)

    def copy(self):
        shutil.rmtree(self.pages, ignore_errors=True)
        for source, place in self.places.items():
            target = os.path.join(self.pages, place)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not source.endswith(".md"):
                shutil.copyfile(os.path.join(self.root, source), target)
                continue
            with open(os.path.join(self.root, source), encoding="utf-8") as file:
                text = self.show_screenshots(place, self.rewrite(source, file.read()))
            with open(target, "w", encoding="utf-8") as file:
                file.write(re.sub(r"^ *<!-- test: .* -->\n", "", text, flags=re.M))
        shutil.copytree(self.reference, os.path.join(self.pages, "reference"))

    def configure(self):
        def entry(place):
            title = read_title(os.path.join(self.pages, place)).replace('"', "'")
            return f'      - "{title}": {place}\n'

        references = sorted(name for name in os.listdir(self.reference) if name.endswith(".md"))
        text = "site_name: Attune\nuse_directory_urls: false\ndocs_dir: pages\nsite_dir: html\ntheme: readthedocs\n"
        text += "nav:\n  - Attune: index.md\n"
        for title, places in (
            ("Guides", [f"{name}.md" for name in GUIDES]),
            ("Facts", [f"{name}.md" for name in FACTS]),
            ("Reference", [f"reference/{name}" for name in references]),
            ("Project", [self.places[path] for path in OTHERS]),
        ):
            text += f"  - {title}:\n" + "".join(entry(place) for place in places)
        with open(os.path.join(self.out, "mkdocs.yml"), "w", encoding="utf-8") as file:
            file.write(text)
        return len(self.places) + len(references) - len(IMAGES)


def main():
    site = Site(*map(os.path.abspath, sys.argv[1:5]))
    site.copy()
    print(f"{site.configure()} pages in {site.pages}")


if __name__ == "__main__":
    main()
