"""What programs of data do: indexes of words, attachments, patches, many documents, restores, files, other types."""

import copy
import datetime
import decimal
import fractions
import gc
import gzip
import io
import os
import pathlib
import pickle
import sys
import types

import pytest
import recension_db


@pytest.fixture
def db(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        yield db


def bare(document):
    return {name: value for name, value in document.items() if name[0] != "_"}


def test_conditions_as_text_and_indexes_of_words_and_of_some(db):
    orders = db["orders"]
    orders.put_many({"_id": f"{n}", "n": n, "state": "open" if n % 3 else "paid", "text": f"soup {n}"} for n in range(30))
    assert orders.count("state = open and n >= 27") == 2
    assert [order["n"] for order in orders.find("n in [3, 4]", sort="n")] == [3, 4]
    with pytest.raises(ValueError, match="cannot be understood"):
        orders.find("n >")
    with pytest.raises(TypeError, match="a dict, or a condition"):
        orders.find(7)
    orders.create_index("open", "n", where="state = open")
    orders.create_index("texts", "text", words="english")
    found = {index["name"]: index for index in orders.indexes()}
    assert (found["open"]["where"], found["texts"]["words"], found["open"]["words"]) == ('state = "open"', "english", None)
    assert "open" in str(orders.explain("state = open and n > 3"))
    assert orders.count("text words soups in english") == 30
    for wrong in ({"where": "state ="}, {"where": "state missing"}, {"words": "klingon"}, {"words": "plain", "unique": True}):
        with pytest.raises(ValueError):
            orders.create_index("wrong", "n", **wrong)


def test_patches_of_one_and_of_many(db):
    stock = db["stock"]
    rev = stock.put("ham", {"n": 3, "old": True})
    rev = stock.patch("ham", {"n": 2, "old": None}, rev)
    assert stock["ham"]["_rev"] == rev and bare(stock["ham"]) == {"n": 2}
    with pytest.raises(recension_db.Conflict):
        stock.patch("ham", {"n": 9}, "1-" + "0" * 32)
    stock.patch("ham", [{"op": "test", "path": "/n", "value": 2}, {"op": "replace", "path": "/n", "value": 1}])
    with pytest.raises(recension_db.RecensionError):
        stock.patch("ham", [{"op": "test", "path": "/n", "value": 7}])
    with pytest.raises(KeyError):
        stock.patch("none", {})
    with pytest.raises(TypeError):
        stock.patch("ham", "n = 1")
    with db.transaction() as tx:
        tx["stock"].patch("ham", {"n": 5})
        assert stock["ham"]["n"] == 1
    assert stock["ham"]["n"] == 5
    stock.put_many([{"_id": "a", "n": 1}, {"_id": "b", "n": 2}, {"_id": "c", "n": 2}])
    assert stock.update_many("n = 2", {"n": 20}) == {"written": 2, "left_alone": []}
    assert stock.update_many({"n": 20}, {"n": 20})["written"] == 0
    assert stock.delete_many({"n": {"$lt": 10}})["written"] == 2
    assert sorted(stock) == ["b", "c"]


def test_what_was_is_restored(db):
    notes = db["notes"]
    first = notes.put("a", {"n": 1})
    then = db.seq
    notes["a"] = {"n": 2}
    notes["b"] = {}
    assert notes["a"]["_rev"] != first
    notes.restore("a", first)
    assert notes["a"]["n"] == 1
    assert notes.restore_to(then) == {"restored": 0, "deleted": 1, "commits": 1}
    db.drop("notes")
    assert db.restore_to(then)["restored"] == 1 and bare(db["notes"]["a"]) == {"n": 1}


def test_attachments(db, tmp_path):
    notes = db["notes"]
    file = tmp_path / "photo.png"
    file.write_bytes(bytes(range(256)) * 1000)
    rev = notes.attach("a", "photo.png", file, "image/png")
    notes.attach("a", "text", b"hello", "text/plain", rev)
    assert notes.attachment("a", "photo.png") == file.read_bytes() and notes.attachment("a", "text") == b"hello"
    told = {one["name"]: one for one in notes.attachments("a")}
    assert (told["photo.png"]["length"], told["photo.png"]["content_type"]) == (256000, "image/png")
    assert notes.attachment("a", "none") is None and notes.attachments("z") == []
    notes.detach("a", "text")
    assert notes.attachment("a", "text") is None
    with pytest.raises(recension_db.Conflict):
        notes.attach("a", "x", b"", rev=rev)
    with pytest.raises(TypeError, match="bytes, or the pathlib.Path"):
        notes.attach("a", "x", "photo.png")
    with pytest.raises(FileNotFoundError):
        notes.attach("a", "x", pathlib.Path("/nowhere/at/all"))


def test_lines_of_json_go_there_and_back(db, tmp_path):
    notes = db["notes"]
    assert notes.load(f'{{"_id": "{n:04}", "n": {10**n if n < 30 else n}}}' for n in range(2500)) == 2500
    for path in (tmp_path / "notes.ndjson", tmp_path / "notes.ndjson.gz"):
        assert notes.dump(path) == 2500
        assert db["copy"].load(path) == 2500
        assert [bare(a) for a in db["copy"].values()] == [bare(a) for a in notes.values()]
        db.drop("copy")
    assert gzip.open(path).readline() == b'{"_id":"0000","n":1}\n'
    then, text = db.seq, io.StringIO()
    notes.clear()
    assert db.at(then)["notes"].dump(text) == 2500 and text.getvalue().count("\n") == 2500
    with pytest.raises(recension_db.Conflict):
        notes.load(['{"_id": "0001", "_rev": "1-00000000000000000000000000000000"}'])
    with pytest.raises(ValueError):
        notes.load(["{"])


NUMBERS = (
    '{"long":0.1000000000000000055511151231257827,"price":1.10,"whole":2.0,"tiny":1e-310,"large":1E30,"zero":-0,'
    '"integer":123456789012345678901234567890,"decimal":12345678901234567890.123,"in":[{"n":1.50},[100E-2,7]],"plain":0.25}'
)


def test_numbers_that_nobody_changes_are_written_back_as_they_were(db, tmp_path):
    notes = db["notes"]

    def stored(collection, id):
        text = io.StringIO()
        collection.dump(text)
        lines = [line for line in text.getvalue().splitlines() if line.startswith(f'{{"_id":"{id}"')]
        return lines[0].replace(f'{{"_id":"{id}",', "{").replace(',"seen":true', "")

    notes.load(f'{{"_id":"{id}",{NUMBERS[1:]}' for id in "abcde")
    assert stored(notes, "a") == NUMBERS
    notes["a"] = {**notes["a"], "seen": True}
    notes.put_many({**copy.deepcopy(found), "seen": True} for found in notes.find({"_id": "b"}))
    notes.patch("c", {"seen": True})
    assert notes.update_many({"_id": "d"}, {"seen": True})["written"] == 1
    with db.transaction() as tx:
        tx["notes"]["e"] = pickle.loads(pickle.dumps({**tx["notes"]["e"], "seen": True}))
    for id in "abcde":
        assert stored(notes, id) == NUMBERS, id
    db["copy"]["a"] = {name: value for name, value in notes.get("a", at=db.seq).items() if name[0] != "_"}
    assert stored(db["copy"], "a") == NUMBERS
    found = notes["a"]
    assert type(found["plain"]) is float and type(found["whole"]) is float and type(found["integer"]) is int
    price = found["price"]
    assert price == 1.1 and price * 2 == 2.2 and price.text == str(price) == f"{price}" == "1.10"
    assert decimal.Decimal(str(found["long"])) == decimal.Decimal("0.1000000000000000055511151231257827")
    assert [row["n"].text for row in notes.aggregate([{"$group": {"_id": None, "n": {"$first": "$price"}}}])] == ["1.10"]
    assert notes.find({"_id": "a"}, fields=["price"]).__next__()["price"].text == "1.10"
    notes["a"] = {"n": recension_db.Number("1.500"), "d": decimal.Decimal("1E+2"), "price": 1.1}
    assert stored(notes, "a") == '{"n":1.500,"d":1E+2,"price":1.1}'
    for wrong in (decimal.Decimal("NaN"), decimal.Decimal("Infinity"), recension_db.Number("1_0"), recension_db.Number("nan")):
        with pytest.raises(ValueError, match="JSON does not have"):
            notes["a"] = {"n": wrong}
    with pytest.raises(ValueError):
        notes.load(['{"_id":"a","n":1e400}'])


def test_dates_numpy_and_values_of_pandas(tmp_path):
    numpy = types.ModuleType("numpy")
    exec(
        "class int64:\n    def tolist(self): return 7\n"
        "class ndarray:\n    def tolist(self): return [1.5, None]\n",
        numpy.__dict__ | {"__name__": "numpy"},
        scope := {"__name__": "numpy"},
    )
    number, array = scope["int64"], scope["ndarray"]
    number.__module__ = array.__module__ = "numpy"
    NaT = type("NaTType", (datetime.datetime,), {})(2000, 1, 1)
    NA = type("NAType", (), {})()
    when = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.timezone.utc)
    document = {"n": number(), "a": array(), "when": when, "day": datetime.date(2026, 1, 2), "in": [number()]}
    expected = {"n": 7, "a": [1.5, None], "when": "2026-11-26T12:00:00+00:00", "day": "2026-01-02", "in": [7]}
    none = {"x": float("nan"), "t": NaT, "na": NA, "list": [float("nan"), 1]}
    with recension_db.open(tmp_path / "strict") as db:
        db["c"]["a"] = document
        assert bare(db["c"]["a"]) == expected
        for value in none.values():
            with pytest.raises(ValueError, match='nan="null"'):
                db["c"]["b"] = {"v": value}
        with pytest.raises(ValueError, match="inf"):
            db["c"]["b"] = {"v": float("inf")}
        with pytest.raises(TypeError, match="is of type Fraction.*default=function"):
            db["c"]["b"] = {"v": fractions.Fraction(1, 3)}
    with recension_db.open(tmp_path / "null", nan="null", default=str) as db:
        db["c"]["a"] = none | {"d": decimal.Decimal("1.1")}
        assert bare(db["c"]["a"]) == {"x": None, "t": None, "na": None, "list": [None, 1], "d": "1.1"}
        with db.transaction() as tx:
            tx["c"]["b"] = {"x": float("nan")}
        assert db.branch("idea")["c"].put("c", {"d": decimal.Decimal(2)})
    with recension_db.open(tmp_path / "omit", nan="omit") as db:
        db["c"]["a"] = none
        assert bare(db["c"]["a"]) == {"list": [None, 1]}
    with recension_db.open("memory:", default=lambda value: value) as db:
        with pytest.raises(ValueError, match="contains itself"):
            db["c"]["a"] = {"v": object()}
    with pytest.raises(ValueError, match="nan"):
        recension_db.open("memory:", nan="zero")
    with pytest.raises(TypeError, match="default"):
        recension_db.open("memory:", default=7)
    assert "numpy" not in sys.modules


def test_objects_say_what_they_are(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        db["notes"]["a"] = {}
        path = str(tmp_path / "store")
        assert repr(db) == f"<recension_db.Database {path!r}: 1 collection, commit {db.seq}>"
        assert repr(db["notes"]) == "<recension_db.Collection 'notes': 1 document>"
        assert repr(db.at(db.seq)["notes"]) == "<recension_db.PastCollection 'notes': 1 document>"
        assert repr(db.at(db.seq)) == f"<recension_db.Moment: commit {db.seq} of {path!r}>"
        assert repr(db.branch("idea")) == f"<recension_db.Database {path + '#idea'!r}: 1 collection, commit {db.seq}>"
        with db.transaction() as tx:
            assert repr(tx) == f"<recension_db.Transaction on commit {tx.seq}>"
        assert repr(tx) == "<recension_db.Transaction: ended>"
        notes = db["notes"]
    assert repr(db) == f"<recension_db.Database {path!r}: closed>" and "closed" in repr(notes)


def test_a_change_of_many_that_stops_says_where_and_how_many_were_written(db):
    notes = db["notes"]
    notes.create_index("u", "u", unique=True)
    notes.put_many({"_id": str(n), "n": n} for n in range(3))
    with pytest.raises(recension_db.NotUnique, match="1 document was changed and stays so; then it stopped") as refused:
        notes.update_many({}, {"u": 1})
    error = refused.value
    assert (error.written, error.id, error.index, error.holder) == (1, "1", "u", "0")
    # So does a merge, which writes nothing.
    with db.branch("idea") as idea:
        idea["notes"]["b"] = {"u": 5}
        notes["a"] = {"u": 5}
        with pytest.raises(recension_db.NotUnique, match="in notes, document") as refused:
            db.merge(idea)
    error = refused.value
    assert (error.id, error.index, error.holder) == ("b", "u", "a") and not hasattr(error, "written")


def in_a_fork(does):
    """What a process that is forked off says of it."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(does())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writes, said.encode())
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as said:
        answer = said.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return answer


def test_a_process_that_is_forked_off_does_not_use_what_its_parent_has_open(tmp_path):
    db = recension_db.open(tmp_path / "store")
    notes = db["notes"]
    notes["a"] = {}
    rows, feed, branch = notes.documents(), db.changes(), db.branch("idea")
    with db.transaction() as open_transaction:
        for does in (
            lambda: notes.get("a"), lambda: notes.put("b", {}), lambda: next(rows), lambda: next(feed), lambda: db.seq,
            lambda: branch["notes"].get("a"), lambda: open_transaction["notes"].put("b", {}), lambda: feed.position,
        ):
            assert in_a_fork(does).startswith("Closed: the store was opened before this process was forked off"), does
        assert in_a_fork(lambda: recension_db.open(tmp_path / "store")).startswith("InUse")
        # It neither unlocks nor closes what is its parent's.
        def drops():
            nonlocal db, notes, rows, feed, branch
            db.close()
            del db, notes, rows, feed, branch
            gc.collect()
        assert in_a_fork(drops) == "None"
        assert in_a_fork(lambda: recension_db.open(tmp_path / "store")).startswith("InUse")
        open_transaction["notes"]["c"] = {}
    assert sorted(notes) == ["a", "c"] and len(list(rows)) == 1
    db.close()
    branch.close()
    del rows, feed
    assert in_a_fork(lambda: sorted(recension_db.open(tmp_path / "store")["notes"])) == "['a', 'c']"
    # Two processes that share it both write.
    with recension_db.open(tmp_path / "store", share=True) as db:
        assert in_a_fork(lambda: recension_db.open(tmp_path / "store", share=True)["notes"].put("d", {})).startswith("'1-")
        assert sorted(db["notes"]) == ["a", "c", "d"]
    for wrong in (None, 5):
        with pytest.raises(TypeError):
            recension_db.open(wrong)


def test_slips_that_would_change_or_sort_otherwise_are_refused(db):
    notes = db["notes"]
    notes.put_many({"_id": str(n), "n": n} for n in range(3))
    for text in ("", " "):
        for slip in (notes.delete_many, lambda text: notes.update_many(text, {"n": 0})):
            with pytest.raises(ValueError, match="the condition is empty: give {} to choose all"):
                slip(text)
    for sort in ({"n": "desc"}, {"n", "_id"}, 7):
        with pytest.raises(TypeError, match="sort: give a path, or a list"):
            notes.find(sort=sort)
    for before in (0, datetime.datetime(1990, 1, 1)):
        for restore in (db.restore_to, notes.restore_to):
            with pytest.raises(ValueError, match="before the first commit"):
                restore(before)
    for wrong in (-1, True, 1.5, 2**70):
        for asked in (lambda n: notes.find(limit=n), lambda n: notes.find(skip=n), lambda n: notes.page(limit=n)):
            with pytest.raises((TypeError, ValueError), match="limit|skip"):
                asked(wrong)
    for since in (True, -1, 1.5):
        with pytest.raises((TypeError, ValueError), match="since: give"):
            notes.changes(since=since)
    for documents in ({}, "", b""):
        with pytest.raises(TypeError, match="a list of documents"):
            notes.put_many(documents)
    with pytest.raises(TypeError, match="lines of JSON"):
        notes.load([1])
    assert len(notes) == 3 and notes.delete_many({})["written"] == 3


def test_positions_and_moments_that_are_ahead_are_refused(db):
    db["notes"]["a"] = {}
    for changes in (db.changes, db["notes"].changes):
        for follow in (False, True):
            with pytest.raises(ValueError, match="ahead of the newest commit, 1"):
                list(changes(since=9, follow=follow, timeout=0))
    soon = datetime.datetime.now() + datetime.timedelta(hours=1)
    for asked in (lambda at: db["notes"].get("a", at=at), db.at, db.resolve, lambda at: db.tag("x", at=at)):
        with pytest.raises(ValueError, match="still to come.*newest commit is 1"):
            asked(soon)
        with pytest.raises(ValueError, match="has not been committed"):
            asked(9)
