"""The types: what the stub declares is there and is documented, and a typed program passes mypy."""

import ast
import pathlib
import subprocess
import sys

import recension_db

STUB = pathlib.Path(recension_db.__file__).with_suffix(".pyi")
TYPES_ONLY = {
    "Change", "Revision", "Index", "BackupReport", "_Reads", "Tag", "Difference", "MergePlace", "MergeConflict", "Merged",
    "Attachment", "Matched", "Restored", "SupportsWrite",
}

PROGRAM = """
from __future__ import annotations
import recension_db

def program() -> list[str]:
    with recension_db.open("memory:") as db:
        notes = db["notes"]
        notes["a"] = {"text": "hello"}
        rev: str = notes.put("a", {"n": 1})
        with db.transaction() as tx:
            tx["notes"]["b"] = {}
        with db.branch("idea") as idea:
            idea["notes"]["c"] = {}
            for difference in db.diff(idea):
                print(difference["id"], difference["before"])
            merged: int = db.merge("idea", conflicts="abort")["taken"] + db.branches()[0]["seq"]
            print(merged)
        past = db.at("1h")["notes"]
        count: int = past.count({"n": 1}) + db.run(lambda tx: len(tx["notes"]))
        for change in db.changes(since=0):
            print(change["id"], change["seq"] + count)
        return [note["_id"] for note in notes.find({"n": {"$gt": 0}}, sort=[("n", "desc")])] + [rev]
"""


def test_what_the_stub_declares_is_there():
    declared = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    assert len(declared) > 15
    for node in declared:
        if node.name in TYPES_ONLY:
            continue
        found = getattr(recension_db, node.name)
        assert found.__doc__, f"{node.name} has no docstring"
        for member in ast.walk(node):
            if isinstance(member, ast.FunctionDef):
                assert hasattr(found, member.name) or member is node, f"{node.name}.{member.name}"


def test_everything_that_people_call_has_a_docstring():
    for kind in (recension_db.Database, recension_db.Collection, recension_db.PastCollection, recension_db.Transaction):
        for name in dir(kind):
            member = getattr(kind, name)
            if name[0] != "_" and not hasattr(dict, name) and getattr(member, "__module__", None) != "collections.abc":
                assert member.__doc__, f"{kind.__name__}.{name}"
    assert "state = open" in recension_db.Collection.find.__doc__


def test_a_typed_program_passes_mypy(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(PROGRAM)
    bad.write_text('import recension_db\nrecension_db.open("memory:")["notes"]["a"] = "text"\n')

    def mypy(path):
        checked = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(path)]
        return subprocess.run(checked, capture_output=True, text=True, check=False)

    assert mypy(good).returncode == 0, mypy(good).stdout
    assert mypy(bad).returncode == 1
