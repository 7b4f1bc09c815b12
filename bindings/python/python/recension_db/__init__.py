"""Recension in a Python process: a JSON document database that you can embed, sync and rewind.

    import recension_db
    db = recension_db.open("notes.store")
    db["notes"]["a"] = {"text": "hello"}

A store is a folder. It has collections, and a collection is a mapping of ids to documents, which are dicts. Every write
is a commit, and every commit can be read again (``at=``).
"""

from __future__ import annotations

import builtins
import contextlib
import gzip
import itertools
import os
from collections.abc import ItemsView, Mapping, MutableMapping, ValuesView

from . import _recension
from ._recension import (
    Busy,
    Changes,
    Closed,
    Conflict,
    Damaged,
    InUse,
    NotUnique,
    OutcomeUnknown,
    ReadOnly,
    RecensionError,
    Rows,
    Unavailable,
)

__all__ = [
    "Busy", "Changes", "Closed", "Collection", "Conflict", "Damaged", "Database", "InUse", "Moment", "NotUnique",
    "Number", "OutcomeUnknown", "PastCollection", "ReadOnly", "RecensionError", "Rows", "Transaction", "Unavailable", "open",
]


def open(address, *, share=False, read_only=False, default=None, nan=None):  # noqa: A001
    """Opens a store: a folder, which is made if there is none, or ``"memory:"``.

    ``share=True`` lets other processes of the same user open it meanwhile; they reach it through this one.
    ``read_only=True`` opens a store that nobody writes to, without changing a byte in its folder.
    ``"notes.store#idea"`` is the branch ``idea`` of a store.

    A store that this process has open already is the same one.

    ``default`` is called with each value that JSON does not have, as that of ``json.dumps``. Numbers and arrays of numpy
    and dates (as ISO 8601) need none. ``nan="null"`` writes null for ``NaN``, and for ``NaT`` and ``NA`` of pandas;
    ``nan="omit"`` leaves such members out.
    """
    return Database(os.fsdecode(address), share=share, read_only=read_only, default=default, nan=nan)


class Number(float):
    """A float that the store spells otherwise than Python does: ``text`` is how, and how it is written back.

    Documents have it where a float alone would lose digits (``0.1000000000000000055``) or the spelling (``1.10``,
    ``1e3``). It is equal to the float, and reckons as one. ``Decimal(str(number))`` is exact for it and for floats.
    """

    __slots__ = ("text",)

    def __new__(cls, text):
        """Of a text, such as ``Number("1.10")``, to write it so."""
        number = super().__new__(cls, text)
        number.text = str(text)
        return number

    def __getnewargs__(self):
        return (self.text,)

    def __repr__(self):
        return self.text


class _Values(ValuesView):
    """The documents of one moment, fetched many at a time."""

    def __iter__(self):
        return self._mapping.documents()


class _Items(ItemsView):
    """Ids and documents of one moment, fetched many at a time."""

    def __iter__(self):
        return ((document["_id"], document) for document in self._mapping.documents())


def _documents(collection):
    try:
        number = len(collection)
    except Closed:
        return "closed"
    except (RecensionError, KeyError) as error:
        return error.args[0]
    return "1 document" if number == 1 else f"{number} documents"


def _text_of_line(line):
    if not isinstance(line, str):
        raise TypeError(f"load reads lines of JSON, not {type(line).__name__}: put_many writes documents")
    return line


_AT_ONCE = 1000
_NOTHING = object()


@contextlib.contextmanager
def _lines(source):
    if isinstance(source, (str, os.PathLike)):
        opens = gzip.open if str(source).endswith(".gz") else builtins.open
        with opens(source, "rt", encoding="utf-8") as file:
            yield file
    else:
        yield source


@contextlib.contextmanager
def _written(to):
    """A file that takes its name when it is complete."""
    if not isinstance(to, (str, os.PathLike)):
        yield to
        return
    part = f"{os.fspath(to)}.part"
    opens = gzip.open if str(to).endswith(".gz") else builtins.open
    with opens(part, "wt", encoding="utf-8") as file:
        yield file
    os.replace(part, to)


class Collection(_recension.Collection, MutableMapping):
    """A collection of documents: a mapping of ids to dicts.

    A document that is read has ``_id`` and ``_rev``. A dict that is written with a ``_rev`` replaces that revision, or
    raises ``Conflict``; one without replaces whatever is there. Each read sees the newest commit, and an iteration sees
    one moment.
    """

    __slots__ = ()

    def values(self):
        return _Values(self)

    def items(self):
        return _Items(self)

    def clear(self):
        """Deletes every document. Their history stays."""
        for key in self:
            self.pop(key, None)

    def dump(self, to):
        """Writes every document of one moment as a line of JSON, by id; returns their number.

        ``to`` is a path (``.gz`` is packed) or a file. ``load`` reads it again: ids and contents, not history and
        attachments, which ``Database.backup`` keeps.
        """
        number = 0
        with _written(to) as file:
            for document in self.documents():
                document.pop("_rev", None)
                document.pop("_attachments", None)
                file.write(_recension._text(document) + "\n")
                number += 1
        return number

    def load(self, source):
        """Writes documents that are lines of JSON, a commit for 1,000 of them; returns their number.

        ``source`` is a path (``.gz`` is unpacked), a file, or any iterable of lines. The first document that is refused
        raises what refuses it; the commits before it stay. ``recension import`` reads CSV and more.
        """
        number = 0
        with _lines(source) as lines:
            documents = (_recension._value(line) for line in map(_text_of_line, lines) if line.strip())
            while many := list(itertools.islice(documents, _AT_ONCE)):
                for answer in self.put_many(many):
                    if isinstance(answer, Exception):
                        raise answer
                number += len(many)
        return number

    def pop(self, id, default=_NOTHING):  # noqa: A002
        """Deletes a document and returns it, or ``default`` if there is none."""
        # The mapping's own would take a branch that was dropped for a document that is not there.
        document = self.get(id, _NOTHING)
        if document is not _NOTHING:
            self.delete(id, document["_rev"])
            return document
        if default is _NOTHING:
            raise KeyError(id)
        return default

    def __repr__(self):
        return f"<recension_db.Collection {self.name!r}: {_documents(self)}>"


class PastCollection(_recension.Collection, Mapping):
    """A collection as of one commit: a mapping that does not change."""

    __slots__ = ()

    values = Collection.values
    items = Collection.items
    dump = Collection.dump

    def __repr__(self):
        return f"<recension_db.PastCollection {self.name!r}: {_documents(self)}>"


class Moment:
    """A store as of one commit: ``db.at("2h")["notes"]``."""

    __slots__ = ("_database", "seq")

    def __init__(self, database, seq):
        self._database = database
        self.seq = seq

    def __getitem__(self, name):
        return PastCollection(self._database, name, self.seq)

    def __repr__(self):
        return f"<recension_db.Moment: commit {self.seq} of {self._database.address!r}>"


class Transaction(_recension.Transaction):
    """Several reads and writes as of one moment, in one commit or none: ``with db.transaction() as tx``.

    It is committed at the end of the block, and given up if the block raises. ``Busy`` is raised if another commit has
    changed what it has read: nothing was written then. ``Database.run`` tries again by itself.
    """

    __slots__ = ()

    def __getitem__(self, name):
        """A collection, as this transaction sees it."""
        return Collection(self, name)

    def __repr__(self):
        try:
            return f"<recension_db.Transaction on commit {self.seq}>"
        except Closed:
            return "<recension_db.Transaction: ended>"


class Database(_recension.Database):
    """A store that is open. Use it from any thread, and as a context manager to close it."""

    __slots__ = ()

    def __getitem__(self, name):
        """A collection. It comes into being with its first document."""
        return Collection(self, name)

    def __iter__(self):
        return iter(self.collections())

    def __len__(self):
        return len(self.collections())

    def __contains__(self, name):
        return name in self.collections()

    def branch(self, name, at=None):
        """Makes a branch: a store that begins as this one, or as it was ``at`` a moment, and has its own writes.

        ``open("notes.store#NAME")`` and ``open_branch(NAME)`` open it again. Close each branch that you open.
        """
        return Database(self._branch(name, "now" if at is None else at))

    def open_branch(self, name):
        """Opens a branch of the store; ``"main"`` is the main line. ``KeyError`` if there is none of that name."""
        return Database(self._branch(name))

    def at(self, moment):
        """The store as of a moment: a commit's number, a text (``"2h"``), a ``datetime`` or a ``timedelta``."""
        return Moment(self, self.resolve(moment))

    def transaction(self):
        """Begins a transaction."""
        return Transaction(self)

    def run(self, body, attempts=100):
        """Runs ``body(transaction)`` and commits; again, on newer reads, if others were faster."""
        for attempt in range(1, attempts + 1):
            transaction = Transaction(self)
            try:
                with transaction:
                    return body(transaction)
            except Busy:
                if attempt == attempts:
                    raise
        raise ValueError("attempts must be 1 or more")

    def __repr__(self):
        if self.closed:
            return f"<recension_db.Database {self.address!r}: closed>"
        try:
            number, seq = len(self), self.seq
        except (RecensionError, KeyError) as error:
            return f"<recension_db.Database {self.address!r}: {error.args[0]}>"
        collections = "1 collection" if number == 1 else f"{number} collections"
        return f"<recension_db.Database {self.address!r}: {collections}, commit {seq}>"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_recension._forked)
