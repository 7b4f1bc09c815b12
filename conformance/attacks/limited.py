"""A limited user (`_access`) tries to see what the rule of now hides, and to write what it forbids.

Each revision says a word of its own. Whatever the user asks, with whatever it makes up or was given before, no answer may
have a word that the rule of now hides.
"""

import base64
import json

from harness import Server

RULE = {"read": {"$or": [{"owner": "$user.name"}, {"team": {"$in": "$user.roles"}}]}}
USER = "/_users/org.couchdb.user:ann"
DESIGN = {
    "_id": "_design/d",
    "views": {"v": {"map": "function (doc) { emit(doc.owner, doc.word); }"}},
    "shows": {"s": "function (doc, req) { return {json: {doc: doc, req: req.info}}; }"},
    "lists": {"l": "function (head, req) { var row; while (row = getRow()) send(JSON.stringify(row)); }"},
    "updates": {"u": "function (doc, req) { return [JSON.parse(req.body), JSON.stringify(doc)]; }"},
    "filters": {"f": "function (doc, req) { return true; }"},
}


class World:
    """The database as the admin has made it: what the user may see is computed here, and asked of nobody."""

    def __init__(self, server, chance):
        self.server, self.chance = server, chance
        self.roles, self.words, self.documents = [], {}, {}
        self.given, self.number = [], 0

    def ask(self, method, path, body=None, headers=None):
        token = base64.b64encode(b"ann:apple").decode()
        return self.server.request(method, path, body, {"Authorization": f"Basic {token}", **(headers or {})})

    def user(self, roles, anew=False):
        """Gives the user roles; anew: another one of the name."""
        _, old = self.server.get(USER)
        if anew:
            self.server.request("DELETE", f"{USER}?rev={old['_rev']}")
            old = {}
        ann = {"name": "ann", "type": "user", "roles": roles, "password": "apple"}
        if "_rev" in old:
            ann["_rev"] = old["_rev"]
        assert self.server.request("PUT", USER, ann)[0] == 201
        self.roles = roles

    def change(self):
        """The admin writes a document, the roles, or another user of the name."""
        kind = self.chance.random()
        if kind < 0.08:
            return self.user(self.chance.sample(["red", "blue"], self.chance.randrange(3)), kind < 0.02)
        self.number += 1
        id, word = f"d{self.chance.randrange(12)}", f"word{self.number}x"
        body = {"word": word, "owner": self.chance.choice(["ann", "bob"])}
        if self.chance.random() < 0.4:
            body["team"] = self.chance.choice(["red", "blue"])
        data = base64.b64encode(f"{word}file".encode()).decode()
        body["_attachments"] = {"f": {"content_type": "text/plain", "data": data}}
        known = self.documents.get(id)
        if known and self.chance.random() < 0.1:
            self.server.request("DELETE", f"/r/{id}?rev={known[0]}")
            del self.documents[id]
            return None
        status, made = self.server.request("PUT", f"/r/{id}", {**body, **({"_rev": known[0]} if known else {})})
        assert status == 201, made
        self.documents[id] = (made["rev"], body)
        self.words[word] = (id, made["rev"], body)
        return None

    def passes(self, body):
        return body["owner"] == "ann" or body.get("team") in self.roles

    def hidden(self):
        """The words that the user must not see now."""
        for word, (id, _, body) in self.words.items():
            if id not in self.documents or not self.passes(body) or not self.passes(self.documents[id][1]):
                yield word

    def places(self):
        """Positions: made up, and given before."""
        head = int(self.server.get("/r")[1]["update_seq"].split("-")[-1]) + 1
        one, two = self.chance.randrange(head), self.chance.randrange(head)
        made_up = [f"0~0~{one}", f"{one}", f"{two}~{one}~{head}", f"{one}-{'0' * 16}", f"0~{one}~{two}-{'ab' * 8}", "0", "now"]
        if self.given:
            own = self.chance.choice(self.given)
            made_up += [own, own.rsplit("-", 1)[0], f"0~0~{one}-{own.rsplit('-', 1)[-1]}"]
        return made_up

    def questions(self):
        """One of each kind of request."""
        places = self.places()
        since = self.chance.choice(places)
        id = f"d{self.chance.randrange(12)}"
        rev = self.chance.choice(list(self.words.values()))[1] if self.words else "1-a"
        feed = self.chance.choice(["normal", "longpoll&timeout=0", "continuous&timeout=0", "eventsource&timeout=0"])
        rest = f"include_docs=true&attachments=true&conflicts=true&since={since}&feed={feed}"
        for place in places:
            more = self.chance.choice(["", "&limit=2", "&style=all_docs"])
            yield "GET", f"/r/_changes?include_docs=true&since={place}&feed={feed}{more}", None, {}
        yield "GET", f"/r/_changes?{rest}&filter=d/f", None, {}
        yield "POST", f"/r/_changes?{rest}&filter=_selector", {"selector": {}, "since": since}, {}
        yield "GET", "/r/_changes?feed=eventsource&timeout=0&include_docs=true", None, {"Last-Event-ID": since}
        for query in (f"rev={rev}", "revs=true&revs_info=true&conflicts=true", "open_revs=all", f"at={self.chance.randrange(40)}",
                      f'open_revs=["{rev}"]&latest=true&revs=true', "attachments=true", f"rev={rev}&latest=true"):
            yield "GET", f"/r/{id}?{query}", None, {}
        yield "GET", f"/r/{id}/f", None, {}
        yield "GET", f"/r/{id}/f?rev={rev}", None, {}
        yield "POST", "/r/_bulk_get?revs=true&attachments=true", {"docs": [{"id": id}, {"id": id, "rev": rev}]}, {}
        yield "GET", f"/r/{id}/_history", None, {}
        yield "GET", "/r/_all_docs?include_docs=true&conflicts=true&attachments=true", None, {}
        yield "POST", "/r/_all_docs?include_docs=true", {"keys": [f"d{n}" for n in range(12)]}, {}
        yield "POST", "/r/_find", {"selector": {"word": {"$gt": None}}, "limit": 3}, {}
        yield "POST", "/r/_aggregate", {"pipeline": [{"$group": {"_id": "$word", "n": {"$sum": 1}}}]}, {}
        yield "GET", "/r/_design/d/_view/v?include_docs=true&conflicts=true", None, {}
        yield "GET", f"/r/_design/d/_show/s/{id}", None, {}
        yield "GET", "/r/_design/d/_list/l/v", None, {}
        yield "POST", f"/r/_design/d/_update/u/{id}", {"_id": id, "owner": "ann", "_rev": rev}, {}
        for path in ("_topics", "_consumers/c", "_leaves", "_local_docs?include_docs=true", "_design/d/_rewrite/x", "_security"):
            yield "GET", f"/r/{path}", None, {}
        for path in (f"doc/{id}", "export", f"doc/{id}/history", "query?find=%7B%22selector%22:%7B%7D%7D"):
            yield "GET", f"/_utils/r/{path}", None, {}
        yield "GET", f"{USER}?at={self.chance.randrange(40)}", None, {}
        yield "GET", f"/r/{id}?at=tag:then", None, {}
        yield "GET", "/r/_all_docs?include_docs=true&at=tag:then", None, {}

    def branches(self):
        """Requests that see, compare or change what is on a branch. The user may make none of them."""
        id, name = f"d{self.chance.randrange(12)}", self.chance.choice(["idea", "idea", "none", "main"])
        at = self.chance.choice(["", "&at=tag:then", f"&at={self.chance.randrange(40)}"])
        for path in ("", f"/{id}", f"/{id}/f", "/b", f"/{id}/_history", "/_design/d/_view/v", "/_security", "/_access",
                     "/_local_docs", f"/{id}?rev=1-a", "/_changes?feed=longpoll&timeout=0"):
            yield "GET", f"/r@{name}{path}{'&' if '?' in path else '?'}include_docs=true{at}", None
        yield "GET", f"/r%40{name}/_all_docs?include_docs=true{at}", None
        yield "GET", f"/_utils/r@{name}/doc/{id}", None
        yield "GET", f"/_utils/r@{name}/export", None
        yield "GET", f"/_users@{name}/_all_docs?include_docs=true", None
        yield "POST", f"/r@{name}/_find", {"selector": {}}
        yield "POST", f"/r@{name}/_bulk_get", {"docs": [{"id": id}]}
        yield "PUT", f"/r@{name}/mine", {"owner": "ann"}
        yield "POST", f"/r@{name}/_bulk_docs", {"docs": [{"_id": "mine", "owner": "ann"}]}
        yield "PUT", f"/r@{name}/_security", {}
        yield "DELETE", f"/r@{name}/_access", None
        yield "POST", "/_replicate", {"source": f"r@{name}", "target": "r"}
        yield "GET", f"/_diff?to={name}", None
        yield "GET", f"/_diff?from={name}&to=main{at}", None
        yield "POST", "/_merge", {"from": name, "dry_run": self.chance.random() < 0.5}
        yield "POST", "/_branches", {"name": "mine", "from": name}
        yield "PUT", f"/_branches/{name}", {"name": "mine"}
        yield "DELETE", f"/_branches/{name}", None
        yield "POST", "/_tags", {"name": "mine", "from": name}
        yield "DELETE", "/_tags/then", None
        yield "GET", "/_branches", None
        yield "GET", "/_tags", None

    def writes(self):
        """Writes that the rule forbids, if the document is not the user's."""
        theirs = [own for own in self.documents.items() if not self.passes(own[1][1])]
        if not theirs:
            return
        id, (rev, _) = self.chance.choice(theirs)
        suffix = rev.split("-")[1]
        generation = int(rev.split("-")[0]) + 1
        path = {"start": generation, "ids": ["f" * 32, suffix]}
        stub = {"f": {"stub": True}}
        yield "PUT", f"/r/{id}", {"_rev": rev, "owner": "ann", "_attachments": stub}
        yield "DELETE", f"/r/{id}?rev={rev}", None
        for doc in ({"_deleted": True}, {"owner": "ann"}, {"owner": "ann", "_attachments": stub}):
            doc = {"_id": id, "_rev": f"{generation}-{'f' * 32}", "_revisions": path, **doc}
            yield "PUT", f"/r/{id}?new_edits=false", doc
            yield "POST", "/r/_bulk_docs", {"docs": [doc], "new_edits": False}
        yield "POST", "/r/_bulk_docs", {"docs": [{"_id": id, "_rev": f"99-{'a' * 32}", "owner": "ann"}], "new_edits": False}
        new = f"new{self.number}"
        for text in ('{"owner":"ann","owner":"bob"}', '{"owner":"ann","own\\u0065r":"bob"}', '{ "owner" : "bob" }'):
            yield "PUT", f"/r/{new}", text.encode()
            yield "POST", "/r", text.replace("{", f'{{"_id":"{new}",', 1).encode()
            yield "POST", "/r/_bulk_docs", f'{{"docs":[{text.replace("{", f"""{{"_id":"{new}",""", 1)}]}}'.encode()


def attack(context):
    failures, tries = [], 0
    chance = context.random("limited")
    with Server(context, context.folder / "limited.store") as server:
        world = World(server, chance)
        server.request("PUT", "/r")
        server.request("PUT", "/r/_security", {"members": {"names": ["ann"], "roles": []}, "admins": {}})
        server.request("PUT", "/r/_design/d", DESIGN)
        world.user(["red"])
        world.change()
        assert server.request("POST", "/_branches", {"name": "idea"})[0] == 201
        assert server.request("POST", "/_tags", {"name": "then"})[0] == 201
        assert server.request("PUT", "/r@idea/b", {"owner": "ann", "word": "branched"})[0] == 201
        server.request("PUT", "/r/_access", RULE)
        shown = 0
        for turn in range(context.rounds(25, 400)):
            for _ in range(chance.randrange(1, 4)):
                world.change()
            hidden = list(world.hidden())
            files = {base64.b64encode(f"{word}file".encode()).decode(): word for word in hidden}
            for method, path, body, headers in world.questions():
                tries += 1
                status, answer = world.ask(method, path, body, headers)
                text = answer if isinstance(answer, str) else json.dumps(answer)
                shown += "word" in text
                leaks = [word for word in hidden if f"{word}\"" in text or f"{word}file" in text]
                leaks += [word for file, word in files.items() if file in text]
                if leaks or status >= 500:
                    failures.append(f"seed {context.seed}, turn {turn}: {method} {path} {body}: {status}, {leaks[:3]}")
                if isinstance(answer, dict):
                    world.given += [answer[name] for name in ("last_seq", "update_seq") if isinstance(answer.get(name), str)]
                    world.given += [row["seq"] for row in answer.get("results", []) if isinstance(row, dict) and "seq" in row]
            for method, path, body in world.branches():
                tries += 1
                status, answer = world.ask(method, path, body)
                if status not in (401, 403, 404):
                    failures.append(f"seed {context.seed}, turn {turn}: {method} {path} {body}: {status} {answer}")
            for method, path, body in world.writes():
                tries += 1
                status, answer = world.ask(method, path, body)
                if status in (200, 201) and "error" not in json.dumps(answer):
                    failures.append(f"seed {context.seed}, turn {turn}: {method} {path} {body}: {status} {answer}")
            # An update of the user's own document is allowed: the admin looks at what is there now.
            for id in (f"d{number}" for number in range(12)):
                _, now = server.get(f"/r/{id}")
                rev, body = world.documents.pop(id, (None, None))
                if body and now.get("_rev") != rev and not world.passes(body):
                    failures.append(f"seed {context.seed}, turn {turn}: {id} was written: {now}")
                if "_rev" in now:
                    world.documents[id] = (now["_rev"], {"owner": now.get("owner"), "team": now.get("team")})
        if server.get("/r@idea/b")[1].get("word") != "branched" or server.get("/_branches")[0] != 200:
            failures.append("the branch is not as it was")
        if not shown:
            failures.append("no answer showed anything: nothing was tried")
    yield tries, failures
