#!/usr/bin/python3
"""The experiment goget in MongoDB by its driver, pymongo: accounts as documents with their items within, writes acknowledged when they
are in the journal, a unique index on the name. The server is the one of MONGODB_URL; `mongomock:` is a stand-in without a server,
by which the laboratory's tests try this program, and is never measured."""

import os

import pymongo

from lines import serve

DATABASE = "recension_lab"


class Subject:
    about = f"pymongo {pymongo.version}"
    settings = "accounts as documents, items within; w=1, j=true; a unique index on the name; an item is added by findAndModify"

    def __init__(self, directory):
        url = os.environ["MONGODB_URL"]
        if url == "mongomock:":
            import mongomock

            self.client = mongomock.MongoClient()
        else:
            self.client = pymongo.MongoClient(url, w=1, journal=True, retryWrites=False, serverSelectionTimeoutMS=10_000)
        self.accounts = self.client[DATABASE].accounts
        # A new directory: what an earlier run has left in the server goes.
        mark = os.path.join(directory, "made")
        if not os.path.exists(mark):
            self.accounts.drop()
            self.accounts.create_index("name", unique=True)
            with open(mark, "w", encoding="utf-8"):
                pass

    def set_up(self, _line, rows):
        for at in range(0, len(rows), 1000):
            self.accounts.insert_many([self.new(row[1:]) for row in rows[at : at + 1000]])

    @staticmethod
    def new(fields):
        key, name, passphrase = fields
        return {"_id": int(key), "name": name, "passphrase": passphrase, "items": []}

    @staticmethod
    def item(fields):
        name, comment, status, count = fields
        return {"name": name, "comment": comment, "status": int(status), "count": int(count)}

    def parse(self, line):
        kind, rest = line[0], line[1:]
        if kind == "new":
            return kind, self.new(rest)
        if kind in ("get", "delete"):
            return kind, int(rest[0])
        if kind == "name":
            return kind, rest[0]
        if kind == "list":
            return (kind,)
        if kind == "add":
            return kind, int(rest[0]), self.item(rest[1:])
        if kind == "change":
            return kind, int(rest[0]), {f"items.{int(rest[1])}": self.item(rest[2:])}
        if kind == "update":
            return "change", int(rest[0]), {"passphrase": rest[1]}
        raise ValueError(f"no such operation: {line}")

    def run(self, operation):
        kind, rest = operation[0], operation[1:]
        if kind == "get":
            return list(self.accounts.find({"_id": rest[0]}))
        if kind == "name":
            return list(self.accounts.find({"name": rest[0]}))
        if kind == "list":
            return list(self.accounts.find())
        if kind == "new":
            self.accounts.insert_one(rest[0])
            return []
        if kind == "add":
            touched = self.accounts.find_one_and_update({"_id": rest[0]}, {"$push": {"items": rest[1]}}) is not None
        elif kind == "change":
            touched = self.accounts.update_one({"_id": rest[0]}, {"$set": rest[1]}).matched_count == 1
        else:
            touched = self.accounts.delete_one({"_id": rest[0]}).deleted_count == 1
        if not touched:
            raise LookupError(f"no account {rest[0]}")
        return []

    def weigh(self, answer):
        return sum(
            account["_id"]
            + len(account["name"])
            + len(account["passphrase"])
            + sum(len(item["name"]) + len(item["comment"]) + item["status"] + item["count"] for item in account["items"])
            for account in answer
        )

    def rows(self, answer):
        rows = []
        for account in answer:
            rows.append(("account", account["_id"], account["name"], account["passphrase"]))
            rows.extend(("item", item["name"], item["comment"], item["status"], item["count"]) for item in account["items"])
        return rows

    def close(self):
        self.client.close()


serve("goget", Subject)
