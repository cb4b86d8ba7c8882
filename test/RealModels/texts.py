# ===- texts.py - Real texts for trained models ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that a Debian system and Python have: manual pages, translated messages, Python's reference."""

import gzip
import pathlib
import re
import struct

MANUALS = pathlib.Path("/usr/share/man")
MESSAGES = pathlib.Path("/usr/share/locale")


class MissingTexts(Exception):
    """The system lacks the texts. Says what to install."""


def plain(roff):
    """Returns the text of lines of roff without its requests, escapes and fonts."""
    lines = []
    for line in roff:
        if line.startswith((".", "'")):
            macro = re.match(r"\.(?:B|I|BR|IR|RB|RI|SM|SB)\s+(.*)", line)
            if not macro:
                continue
            line = macro[1].replace('"', "")
        lines.append(line)
    text = " ".join(lines)
    text = re.sub(r"\\f(?:\[[^\]]*\]|\(..|.)|\\s[-+]?\d+|\\[&/,|^%:]", "", text)
    text = re.sub(r"\\\((?:cq|aq)|\\\[(?:cq|aq)\]", "'", text)
    text = re.sub(r"\\\((?:lq|rq|dq)|\\\[(?:lq|rq|dq)\]|``|''", '"', text)
    text = re.sub(r"\\\(..|\\\[[^\]]*\]|\\\*\(..|\\\*\[[^\]]*\]|\\\*.", " ", text)
    text = re.sub(r'\\".*?$', "", text).replace("\\-", "-").replace("\\e", "\\").replace("\\ ", " ")
    return re.sub(r"\s+", " ", text).strip()


def sections(path):
    """Returns the sections of a manual page: title to lines of roff."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        result, title = {}, ""
        for line in f.read().splitlines():
            heading = re.match(r'\.S[Hh]\s+"?([^"]*)"?', line)
            if heading:
                title = heading[1].strip()
            elif not line.startswith(('.\\"', "'\\\"")):
                result.setdefault(title, []).append(line)
    return result


def manual_entries(count):
    """Returns (short description, description) of up to |count| commands: a search and what it should find.

    The descriptions have 120 to 1500 characters. Pages with equal short descriptions count once.
    """
    found, seen = [], set()
    for folder in ("man1", "man8"):
        for path in sorted((MANUALS / folder).glob("*.gz")):
            try:
                page = sections(path)
            except (OSError, EOFError):
                continue
            name = re.match(r"\S+(?:,\s*\S+)* +-+ +(.{15,120})$", plain(page.get("NAME", [])))
            description = plain(page.get("DESCRIPTION", []))[:1500]
            if name and len(description) >= 120 and name[1] not in seen and description[:200] not in seen:
                seen |= {name[1], description[:200]}
                found.append((name[1], description))
    if len(found) < 200:
        raise MissingTexts(f"{MANUALS}: expected at least 200 manual pages of commands, found {len(found)}")
    step = max(1, len(found) // count)
    return found[::step][:count]


def translations(path):
    """Returns the translations in a compiled message catalog of gettext."""
    data = path.read_bytes()
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    _, _, count, _, table = struct.unpack_from(order + "5I", data)
    result = []
    for i in range(count):
        size, offset = struct.unpack_from(order + "2I", data, table + 8 * i)
        result.append(data[offset : offset + size].split(b"\0")[0].decode("utf-8", "replace"))
    return result[1:]


def messages(count):
    """Returns |count| translated messages in as many languages as there are."""
    languages = []
    for folder in sorted(MESSAGES.glob("*/LC_MESSAGES")):
        texts = []
        for name in ("coreutils", "glib20", "grep", "gtk20", "apt"):
            path = folder / (name + ".mo")
            if path.is_file():
                texts += [text for text in translations(path) if "\n" not in text.strip() and len(text) > 20]
        if texts:
            languages.append(sorted({text.strip() for text in texts}))
    result = []
    for i in range(max(map(len, languages), default=0)):
        result += [texts[i * 7 % len(texts)] for texts in languages if i < len(texts)]
        if len(result) >= count:
            break
    return result[:count]


def python_reference(size):
    """Returns |size| characters of the language reference that Python brings."""
    from pydoc_data.topics import topics

    text = "\n\n".join(topics[name] for name in sorted(topics))
    return text[:size]


def lines(count):
    """Returns |count| texts of one line in many languages, of all lengths."""
    result = messages(count // 2)
    result += [text for pair in manual_entries(count // 4) for text in pair]
    result += [line.strip() for line in python_reference(200000).splitlines() if line.strip()]
    return result[:count]


def reactions(count):
    """Returns |count| chemical reactions in SMILES: textbook reactions of combinations of groups."""
    groups = "C CC C(C)C C1CC1 C1CCCCC1 c1ccccc1 Cc1ccccc1 c1ccc(Cl)cc1 c1ccc(OC)cc1 c1ccncc1 C(F)(F)F CCO".split()
    forms = [
        "{a}C(=O)O.N{b}>CCN(CC)CC.ClCCl>{a}C(=O)N{b}",
        "{a}C(=O)O.O{b}>OS(=O)(=O)O>{a}C(=O)O{b}",
        "{a}Br.OB(O){b}>[Pd].O=C([O-])[O-].[K+].[K+]>{a}{b}",
        "{a}C=O.N{b}>[BH3-]C#N.[Na+].CO>{a}CN{b}",
        "{a}S(=O)(=O)Cl.N{b}>c1ccncc1>{a}S(=O)(=O)N{b}",
        "{a}C(=O)O{b}.[OH-].[Na+]>O.C1CCOC1>{a}C(=O)O",
        "{a}C#C.[N-]=[N+]=N{b}>[Cu+]>{a}c1cn({b})nn1",
    ]
    made = [form.format(a=a, b=b) for a in groups for form in forms for b in groups]
    return made[:: max(1, len(made) // count)][:count]


def titles(count):
    """Returns |count| tasks for a model that maps text to text."""
    tasks = ["summarize: ", "translate English to German: ", "translate English to French: ", "Write a title: ", "What does this do? "]
    return [tasks[i % len(tasks)] + text[:400] for i, (_, text) in enumerate(manual_entries(count))]
