"""The module as people use it, from the wheel."""

import datetime
import threading
import time
from collections.abc import Mapping, MutableMapping

import pytest
import recension_db


@pytest.fixture
def db(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        yield db


def test_a_collection_is_a_mapping_of_dicts(db):
    notes = db["notes"]
    assert isinstance(notes, MutableMapping)
    notes["a"] = {"text": "hello", "n": 1, "deep": {"list": [1, 2.5, None, True, "ü\u2028"]}}
    note = notes["a"]
    assert type(note) is dict
    assert note["_id"] == "a" and note["_rev"].startswith("1-")
    assert note["deep"] == {"list": [1, 2.5, None, True, "ü\u2028"]}
    notes["b"] = {}
    assert list(notes) == ["a", "b"] and len(notes) == 2 and "a" in notes and "z" not in notes and 7 not in notes
    assert [key for key, _ in notes.items()] == ["a", "b"]
    assert [value["_id"] for value in notes.values()] == ["a", "b"]
    assert notes.get("z") is None and notes.get("z", 5) == 5
    with pytest.raises(KeyError):
        notes["z"]
    assert notes.pop("b")["_id"] == "b"
    with pytest.raises(KeyError):
        del notes["b"]
    notes.update({"c": {"x": 1}})
    assert notes.setdefault("c", {})["x"] == 1
    notes.clear()
    assert len(notes) == 0
    assert db.collections() == ["notes"] and "notes" in db
    assert db.drop("notes") and not db.drop("notes")


def test_integers_of_any_size_and_doubles_come_back_as_they_were(db):
    numbers = [0, -1, 2**63 - 1, 2**63, -(2**63) - 1, 10**100, 0.1, 1e300, -2.5e-300, 1.0]
    db["n"]["a"] = {"numbers": numbers, "true": True}
    found = db["n"]["a"]
    assert found["numbers"] == numbers
    assert [type(number) for number in found["numbers"]] == [type(number) for number in numbers]
    assert found["true"] is True


def test_a_revision_that_is_not_there_any_more_is_a_conflict(db):
    notes = db["notes"]
    rev = notes.put("a", {"n": 1})
    mine, theirs = notes["a"], notes["a"]
    theirs["n"] = 2
    notes["a"] = theirs
    mine["n"] = 3
    with pytest.raises(recension_db.Conflict) as refused:
        notes["a"] = mine
    assert (refused.value.id, refused.value.expected) == ("a", rev)
    assert refused.value.found == notes["a"]["_rev"]
    with pytest.raises(recension_db.Conflict):
        notes.create({}, "a")
    with pytest.raises(recension_db.Conflict):
        notes.delete("a", rev)
    assert issubclass(recension_db.Conflict, recension_db.RecensionError)
    revisions = list(notes.history("a"))
    assert [revision["document"]["n"] for revision in revisions] == [2, 1]
    assert notes.revision("a", rev)["n"] == 1 and notes.conflicts("a") == []


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": {"b": [1, {2}]}}, r'\["a"\]\["b"\]\[1\] is of type set'),
        ({"a": {1: 2}}, "keys must be str, not int"),
        ({"a": b"bytes"}, "is of type bytes"),
        ([1], "must be a dict, not list"),
        ("text", "must be a dict, not str"),
    ],
)
def test_what_json_does_not_have_is_a_type_error_that_names_the_place(db, value, says):
    with pytest.raises(TypeError, match=says):
        db["notes"]["a"] = value
    assert "a" not in db["notes"]


def test_bounds_are_value_errors(db):
    notes = db["notes"]
    deep = []
    for _ in range(600):
        deep = [deep]
    itself = {}
    itself["me"] = itself
    for value in [{"a": deep}, itself, {"a": float("nan")}, {"a": float("inf")}, {"_other": 1}, {"_id": "b"}]:
        with pytest.raises(ValueError):
            notes["a"] = value
    with pytest.raises(ValueError):
        notes[""] = {}
    with pytest.raises(TypeError):
        notes[5]
    fits = None
    for _ in range(500):
        fits = [fits]
    notes["a"] = {"a": fits}
    assert notes["a"]["a"] == fits


def test_queries(db):
    cities = db["cities"]
    answers = cities.put_many({"_id": f"c{n}", "n": n, "even": n % 2 == 0} for n in range(300))
    assert len(answers) == 300 and all(answer.startswith("1-") for answer in answers)
    assert isinstance(cities.put_many([{"_id": "c1", "_rev": "9-" + "0" * 32}])[0], recension_db.Conflict)
    cities.create_index("by-n", "n", unique=True)
    by_n = {"name": "by-n", "paths": ["n"], "unique": True, "words": None, "where": None}
    assert cities.indexes() == [by_n]
    assert [city["n"] for city in cities.find({"n": {"$gte": 296}}, sort=[("n", "desc")])] == [299, 298, 297, 296]
    assert "by-n" in str(cities.explain({"n": 5}))
    assert list(cities.find({"n": 5}, fields=["_id"])) == [{"_id": "c5"}]
    assert cities.count({"even": True}) == 150 and cities.count() == 300
    first, after = cities.page({"even": True}, limit=100)
    rest, end = cities.page({"even": True}, limit=100, after=after)
    assert len(first) == 100 and len(rest) == 50 and end is None
    assert [d["_id"] for d in cities.documents(prefix="c29", limit=3)] == ["c29", "c290", "c291"]
    with pytest.raises(recension_db.NotUnique) as refused:
        cities["new"] = {"n": 5}
    assert refused.value.holder == "c5"
    for bad in [{"n": {"$nothing": 1}}, {"n": {"$regex": "("}}]:
        with pytest.raises((ValueError, recension_db.RecensionError)):
            list(cities.find(bad))
    with pytest.raises(TypeError):
        cities.find(["n"])
    cities.drop_index("by-n")


def test_aggregates(db):
    db["sales"].put_many({"_id": str(n), "shop": "ab"[n % 2], "sum": n} for n in range(10))
    rows = db["sales"].aggregate([{"$group": {"_id": "$shop", "sum": {"$sum": "$sum"}}}, {"$sort": {"_id": 1}}])
    assert [row["sum"] for row in rows] == [20, 25]


def test_the_past(db):
    notes = db["notes"]
    notes["a"] = {"n": 1}
    then = db.seq
    notes["a"] = {"n": 2}
    del notes["a"]
    assert notes.get("a", at=then)["n"] == 1
    past = db.at(then)["notes"]
    assert isinstance(past, Mapping) and not isinstance(past, MutableMapping)
    assert past["a"]["n"] == 1 and list(past) == ["a"] and [v["n"] for v in past.values()] == [1]
    with pytest.raises(recension_db.ReadOnly):
        past.put("a", {})
    assert [r["deleted"] for r in notes.history("a")] == [True, False, False]
    assert db.at(datetime.timedelta(days=1))["notes"].get("a") is None
    assert notes.get("a", at=datetime.datetime.now(datetime.timezone.utc)) is None
    with pytest.raises(ValueError):
        notes.get("a", at="someday")
    with pytest.raises(TypeError):
        notes.get("a", at=1.5)


def test_transactions_are_one_commit_or_none(db):
    db["stock"]["ham"] = {"slices": 3}
    with db.transaction() as tx:
        ham = tx["stock"]["ham"]
        ham["slices"] -= 1
        tx["stock"]["ham"] = ham
        tx["orders"].create({"dish": "pizza"})
        assert len(tx["orders"]) == 1 and len(db["orders"]) == 0
    assert db["stock"]["ham"]["slices"] == 2 and len(db["orders"]) == 1
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as tx:
            tx["stock"]["ham"] = {}
            1 / 0
    assert db["stock"]["ham"]["slices"] == 2
    with pytest.raises(recension_db.Busy):
        with db.transaction() as tx:
            slices = tx["stock"]["ham"]["slices"]
            db["stock"]["ham"] = {"slices": 7}
            tx["stock"]["ham"] = {"slices": slices - 1}
    assert db["stock"]["ham"]["slices"] == 7
    with pytest.raises(recension_db.Closed):
        tx["stock"]["ham"]


def test_threads_that_count_in_transactions_lose_nothing(db):
    db["c"]["n"] = {"n": 0}

    def count(tx):
        document = tx["c"]["n"]
        document["n"] += 1
        tx["c"]["n"] = document

    def many():
        for _ in range(25):
            db.run(count, attempts=1000)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db["c"]["n"]["n"] == 100


def test_changes(db):
    notes = db["notes"]
    notes["a"] = {}
    notes["b"] = {}
    del notes["a"]
    feed = db.changes()
    assert [(change["id"], change["deleted"]) for change in feed] == [("b", False), ("a", True)]
    follow = db.changes(since=feed.position, follow=True, timeout=30)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(next(follow)))
    reader.start()
    notes["c"] = {}  # other threads run while it waits
    reader.join(timeout=30)
    assert [change["id"] for change in seen] == ["c"]
    assert list(notes.changes(since=db.seq, follow=True, timeout=0)) == []


def test_several_of_one_store(tmp_path):
    path = tmp_path / "store"
    with recension_db.open(path) as db:
        db["a"]["b"] = {}
        with pytest.raises(recension_db.InUse):
            recension_db.open(path, read_only=True)
        (tmp_path / "x").mkdir()
        with recension_db.open(path) as same, recension_db.open(str(tmp_path / "x" / ".." / "store")) as again:
            same["a"]["same"] = {}
            assert again["a"]["same"] == db["a"]["same"]
        del db["a"]["same"]
        with pytest.raises(ValueError, match="does not share it"):
            recension_db.open(path, share=True)
        assert db.backup(tmp_path / "copy")["seq"] == db.seq
    with pytest.raises(recension_db.Closed):
        db["a"]["b"]
    with recension_db.open(path, share=True) as owner, recension_db.open(path) as guest:
        guest["a"]["c"] = {"n": 1}
        assert owner["a"]["c"]["n"] == 1
    with recension_db.open(tmp_path / "copy", read_only=True) as copy:
        assert "b" in copy["a"]
        with pytest.raises(recension_db.ReadOnly):
            copy["a"]["d"] = {}


def test_other_threads_run_while_a_feed_waits(db):
    db["a"]["b"] = {}
    waiting = threading.Thread(target=lambda: list(db.changes(follow=True, timeout=1.0)))
    waiting.start()
    began, turns = time.monotonic(), 0
    while waiting.is_alive():
        turns += 1
    assert turns > 1000, f"{turns} turns in {time.monotonic() - began:.1f} s"
