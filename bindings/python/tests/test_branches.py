"""Branches, tags, differences and merges, from the wheel."""

import pytest
import recension_db


def test_a_program_works_on_a_branch_and_it_is_merged(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        orders = db["orders"]
        orders["17"] = {"item": "pizza", "price": 9, "stock": 10, "state": "open"}
        orders["18"] = {"item": "soup", "price": 5}
        before = db.tag("before")
        with db.branch("prices") as prices:
            assert (prices.branch_name, db.branch_name) == ("prices", None)
            assert type(prices) is recension_db.Database
            prices["orders"]["17"] = prices["orders"]["17"] | {"price": 12, "stock": 9}
            prices["orders"]["19"] = {"item": "water", "price": 2}
            assert orders["17"]["price"] == 9 and "19" not in orders
            found = list(db.diff(prices))
            assert [(one["collection"], one["id"]) for one in found] == [("orders", "17"), ("orders", "19")]
            assert (found[0]["before"]["price"], found[0]["after"]["price"], found[1]["before"]) == (9, 12, None)
            assert list(db.diff("prices", other_at=before)) == []
        orders["17"] = orders["17"] | {"state": "paid", "stock": 8}
        told = db.merge("prices", dry_run=True)
        assert (told["seq"], told["taken"], told["conflicted"]) == (None, 1, 1)
        assert told["conflicts"][0]["places"] == [{"place": "/stock", "base": 10, "ours": 8, "theirs": 9}]
        assert db.merge("prices", conflicts="abort")["seq"] is None and orders["17"]["price"] == 9
        merged = db.merge("prices", counters=["/stock"])
        assert (merged["taken"], merged["combined"], merged["conflicted"], merged["seq"]) == (1, 1, 0, db.seq)
        now = {key: value for key, value in orders["17"].items() if key[0] != "_"}
        assert now == {"item": "pizza", "price": 12, "stock": 7, "state": "paid"}
        assert orders.get("17", at="tag:before")["price"] == 9
        assert db.tags() == [{"name": "before", "branch": "main", "seq": before}]
        assert [(one["name"], one["from"]) for one in db.branches()] == [("prices", "main")]
        db.rename_branch("prices", "costs")
        deeper = db.open_branch("costs").branch("deeper", at=db.open_branch("costs").seq)
        assert [(one["name"], one["from"]) for one in db.branches()] == [("costs", "main"), ("deeper", "costs")]
        with pytest.raises(recension_db.Conflict, match="deeper") as refused:
            db.drop_branch("costs")
        assert refused.value.id == "costs"
        deeper.close()
        db.drop_branch("deeper")
        db.drop_branch("costs")
        assert db.untag("before") and not db.untag("before") and db.branches() == []


def test_an_address_names_a_branch_and_what_is_not_there_is_named(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        db["a"]["b"] = {"n": 1}
        db.branch("idea")["a"]["b"] = {"n": 2}
        for wrong in (lambda: db.open_branch("ide"), lambda: db.merge("ide"), lambda: db.drop_branch("ide")):
            with pytest.raises(KeyError, match="no branch ide; there are main, idea"):
                wrong()
        with pytest.raises(recension_db.Conflict, match="there is a branch of this name"):
            db.branch("idea")
        for wrong in (lambda: db.branch("a b"), lambda: db.tag(""), lambda: db.drop_branch("main")):
            with pytest.raises(ValueError):
                wrong()
        with pytest.raises(ValueError, match="fields, ours, theirs or abort"):
            db.merge("idea", conflicts="mine")
        with pytest.raises(ValueError):
            db.merge("idea", counters=["stock"])
        with pytest.raises(TypeError, match="give a branch"):
            db.merge(7)
        assert db.open_branch("main")["a"]["b"]["n"] == 1
        with recension_db.open("memory:") as other, pytest.raises(ValueError, match="not of one opened store"):
            db.merge(other)
    for read_only in (False, True):
        with recension_db.open(f"{tmp_path / 'store'}#idea", read_only=read_only) as idea:
            assert (idea["a"]["b"]["n"], idea.branch_name) == (2, "idea")
    with pytest.raises(KeyError, match="no branch none"):
        recension_db.open(f"{tmp_path / 'store'}#none")
    # A slip in an address makes no store.
    for wrong in ("store#", "store#a b", "new#idea", "new#"):
        with pytest.raises(KeyError, match="no branch"):
            recension_db.open(tmp_path / wrong)
    assert [entry.name for entry in tmp_path.iterdir()] == ["store"]


def test_a_branch_that_was_dropped_is_told_and_is_no_missing_document(tmp_path):
    with recension_db.open(tmp_path / "store") as db:
        db["a"]["b"] = {"n": 1}
        idea = db.branch("idea")
        docs = idea["a"]
        assert docs.pop("none", 7) == 7 and docs.pop("b")["n"] == 1 and "b" not in docs
        with pytest.raises(KeyError, match="b"):
            docs.pop("b")
        db.drop_branch("idea")
        for used in (lambda: docs.get("b", 7), lambda: docs.pop("b", 7), lambda: "b" in docs, lambda: len(docs)):
            with pytest.raises(KeyError, match="no branch idea"):
                used()
        assert "no branch idea" in repr(idea) and "no branch idea" in repr(docs)
