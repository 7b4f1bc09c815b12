"""couchdb3, a client from PyPI: queries and their indexes, views, feeds."""

import os

import couchdb3
import pytest
from couchdb3.exceptions import ConflictError, CouchDBError


@pytest.fixture
def db(request):
    server = couchdb3.Server(os.environ["RECENSION_URL"], user="adm", password="pass")
    name = "c" + "".join(c for c in request.node.name.lower() if c.isalnum())
    yield server.create(name)
    server.delete(name)


def filled(db):
    docs = [{"_id": f"d{n:03}", "n": n, "kind": ["a", "b", "c"][n % 3], "tags": [f"t{n % 5}"]} for n in range(90)]
    assert all(row["ok"] for row in db.bulk_docs(docs))


def test_queries_go_by_indexes_in_order_and_in_pages(db):
    filled(db)
    result, ddoc, name = db.save_index({"fields": ["kind", "n"]}, ddoc="by", name="kind-n")
    assert (result, name) == ("created", "kind-n")
    assert name in [index["name"] for index in db.indexes()["indexes"]]
    selector = {"kind": "b", "n": {"$gte": 30}}
    plan = db.explain(selector)
    assert plan["index"]["name"] == "kind-n"
    seen, bookmark = [], None
    while True:
        page = db.find(selector, limit=7, sort=[{"kind": "desc"}, {"n": "desc"}], fields=["n"], bookmark=bookmark)
        if not page["docs"]:
            break
        seen += [doc["n"] for doc in page["docs"]]
        bookmark = page["bookmark"]
    assert seen == [n for n in reversed(range(30, 90)) if n % 3 == 1]
    either = db.find({"$or": [{"n": {"$lt": 2}}, {"tags": {"$all": ["t4"]}}]}, limit=100, execution_stats=True)
    assert either["execution_stats"]["results_returned"] == len(either["docs"]) == 20
    assert db.delete_index("by", "kind-n")
    with pytest.raises(CouchDBError):
        db.find({"kind": "b"}, sort=[{"n": "asc"}])


def test_views_are_grouped_and_documents_conflict(db):
    filled(db)
    views = {"kinds": {"map": "function (doc) { emit(doc.kind, doc.n); }", "reduce": "_sum"}}
    db.put_design("v", views=views)
    rows = db.view("v", "kinds", group=True).rows
    assert [(row["key"], row["value"]) for row in rows] == [(k, sum(range(i, 90, 3))) for i, k in enumerate("abc")]
    doc = db.get("d001")
    doc_id, ok, rev = db.save({**doc, "n": -1})
    assert ok and rev.startswith("2-")
    with pytest.raises(ConflictError):
        db.save({**doc, "n": -2})
    assert db.rev("d001") == rev


def test_a_feed_is_followed_as_it_comes(db):
    filled(db)
    since = db.changes(since="0")["last_seq"] if isinstance(db.changes(since="0"), dict) else "now"
    db.save({"_id": "new", "n": 1})
    with db.changes_stream(since=since, timeout=500) as changes:
        assert next(iter(changes))["id"] == "new"
