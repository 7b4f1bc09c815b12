"""How long a get takes: run it with the release wheel that `scripts/python-module build` makes."""

import tempfile
import time

import recension_db

DOCUMENTS = 100_000


def rate(what, times, run):
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        run()
        best = min(best, (time.perf_counter() - began) / times)
    print(f"{what}: {best * 1e6:.2f} us")


with tempfile.TemporaryDirectory() as folder, recension_db.open(folder + "/store") as db:
    notes = db["notes"]
    for first in range(0, DOCUMENTS, 1000):
        notes.put_many(
            {"_id": f"note-{n}", "text": f"the text of note {n}", "n": n, "tags": ["a", "b"]}
            for n in range(first, first + 1000)
        )
    ids = [f"note-{n * 7919 % DOCUMENTS}" for n in range(20_000)]

    def gets():
        for key in ids:
            notes[key]

    def chained():
        for key in ids:
            db["notes"][key]

    def listed():
        for _ in notes.values():
            pass

    rate("notes[id]", len(ids), gets)
    rate('db["notes"][id]', len(ids), chained)
    rate("a document of notes.values()", DOCUMENTS, listed)
