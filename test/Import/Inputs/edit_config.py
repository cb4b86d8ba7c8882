#!/usr/bin/env python3
"""Changes a JSON file of a folder (standard library only).

edit_config.py FOLDER [--file=NAME] [--drop=KEY]... [--set=KEY=JSON]...

NAME is config.json by default.
"""
import json
import os
import sys

path, edits = os.path.join(sys.argv[1], "config.json"), []
for flag in sys.argv[2:]:
    key, _, value = flag.partition("=")
    if key == "--file":
        path = os.path.join(sys.argv[1], value)
    else:
        edits.append((key, value))
with open(path, encoding="utf-8") as file:
    config = json.load(file)
for key, value in edits:
    if key == "--drop":
        del config[value]
    else:
        name, _, text = value.partition("=")
        config[name] = json.loads(text)
with open(path, "w", encoding="utf-8") as file:
    json.dump(config, file)
