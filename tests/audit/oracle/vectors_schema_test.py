"""Every file of tests/vectors satisfies docs/vectors.schema.json, and the schema can say no.

Usage: vectors_schema_test.py SCHEMA FOLDER
"""
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

schema = json.loads(Path(sys.argv[1]).read_text())
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
paths = sorted(Path(sys.argv[2]).glob("*.json"))
assert paths, "no vectors"
for path in paths:
    file = json.loads(path.read_text())
    for error in validator.iter_errors(file):
        sys.exit(f"{path.name}: {error.json_path}: {error.message[:200]}")
    for wrong in ({"schema": 2}, {"cases": []}, {"extra": 1}, {"cases": [{**file["cases"][0], "type": "f8"}]},
                  {"cases": [{**file["cases"][0], "q": [1.5]}]}, {"cases": [{**file["cases"][0], "left": -2}]}):
        assert not validator.is_valid({**file, **wrong}), f"{path.name} stays valid with {wrong}"
print(f"{len(paths)} files are valid")
