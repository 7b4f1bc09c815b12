from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar

_T = TypeVar("_T")
Document: TypeAlias = dict[str, Any]
# A Mango selector, or a condition as text: 'state = open and price > 9'.
Selector: TypeAlias = Mapping[str, Any] | str
Patch: TypeAlias = dict[str, Any] | list[dict[str, Any]]
At: TypeAlias = int | str | datetime | timedelta
Sort: TypeAlias = str | Sequence[str | tuple[str, str] | dict[str, str]]

class Change(TypedDict):
    collection: str
    id: str
    rev: str
    seq: int
    deleted: bool
    position: str

class Revision(TypedDict):
    rev: str
    seq: int
    time: str
    deleted: bool
    document: Document | None

class Index(TypedDict):
    name: str
    paths: list[str]
    unique: bool
    words: str | None
    where: str | None

class Attachment(TypedDict):
    name: str
    content_type: str
    length: int
    digest: str
    revpos: int

class Matched(TypedDict):
    written: int
    left_alone: list[str]

class Restored(TypedDict):
    restored: int
    deleted: int
    commits: int

Branch = TypedDict("Branch", {"name": str, "from": str, "seq": int})

class Tag(TypedDict):
    name: str
    branch: str
    seq: int

class Difference(TypedDict):
    collection: str
    id: str
    before: Document | None
    after: Document | None

class MergePlace(TypedDict):
    place: str
    base: Any
    ours: Any
    theirs: Any

class MergeConflict(TypedDict):
    collection: str
    id: str
    places: list[MergePlace]

class Merged(TypedDict):
    seq: int | None
    taken: int
    combined: int
    conflicted: int
    conflicts: list[MergeConflict]
    dropped: list[str]
    made: list[str]

class BackupReport(TypedDict):
    seq: int
    files_copied: int
    bytes_copied: int

class RecensionError(Exception): ...
class Conflict(RecensionError):
    id: str
    expected: str | None
    found: str | None
class NotUnique(RecensionError):
    id: str
    index: str
    holder: str | None
class Busy(RecensionError): ...
class InUse(RecensionError): ...
class ReadOnly(RecensionError): ...
class Unavailable(RecensionError): ...
class OutcomeUnknown(RecensionError): ...
class Damaged(RecensionError): ...
class Closed(RecensionError): ...

class Number(float):
    text: str
    def __new__(cls, text: str) -> Number: ...

class Rows(Iterator[Any]):
    def __iter__(self) -> Rows: ...
    def __next__(self) -> Any: ...

class Changes(Iterator[Change]):
    @property
    def position(self) -> str: ...
    def __iter__(self) -> Changes: ...
    def __next__(self) -> Change: ...

class SupportsWrite(Protocol):
    def write(self, text: str, /) -> object: ...

class _Reads:
    @property
    def name(self) -> str: ...
    def documents(
        self, start: str | None = None, end: str | None = None, *, prefix: str | None = None, limit: int | None = None,
        descending: bool = False, at: At | None = None,
    ) -> Iterator[Document]:
        """Documents by id, from ``start`` on and before ``end``, or those whose ids begin with ``prefix``."""
    def find(
        self, selector: Selector | None = None, *, sort: Sort | None = None, limit: int | None = None, skip: int = 0,
        fields: Sequence[str] | None = None, at: At | None = None,
    ) -> Iterator[Document]:
        """The documents that a Mango selector selects. ``fields``: only these of each."""
    def page(
        self, selector: Selector | None = None, *, sort: Sort | None = None, limit: int = 100, after: str | None = None,
        at: At | None = None,
    ) -> tuple[list[Document], str | None]:
        """One page of them, and what ``after`` is for the next one; ``None`` if it was the last."""
    def count(self, selector: Selector | None = None, *, at: At | None = None) -> int: ...
    def aggregate(
        self, pipeline: Document | Sequence[Document], selector: Selector | None = None, *, at: At | None = None,
    ) -> list[Any]:
        """The rows that a pipeline makes of the documents that a selector selects."""
    def explain(self, selector: Selector | None = None, *, sort: Sort | None = None, limit: int | None = None) -> Any: ...
    def history(self, id: str) -> Iterator[Revision]:
        """Every revision of a document, newest first."""
    def revision(self, id: str, rev: str) -> Document | None: ...
    def conflicts(self, id: str) -> list[str]:
        """The revisions that lost a conflict and are not resolved yet."""
    def indexes(self) -> list[Index]: ...
    def attachment(self, id: str, name: str, rev: str | None = None) -> bytes | None: ...
    def attachments(self, id: str) -> list[Attachment]: ...
    def dump(self, to: str | PathLike[str] | SupportsWrite) -> int: ...

class Collection(_Reads, MutableMapping[str, Document]):
    def __getitem__(self, id: str) -> Document: ...
    def __setitem__(self, id: str, document: Document) -> None: ...
    def __delitem__(self, id: str) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, id: str, default: Any = None, *, at: At | None = None) -> Any: ...  # type: ignore[override]
    def put(self, id: str, document: Document) -> str:
        """Writes a document; answers its revision."""
    def create(self, document: Document, id: str | None = None) -> tuple[str, str]:
        """Creates a document; answers its id and its revision. ``Conflict`` if there is one of that id."""
    def delete(self, id: str, rev: str | None = None) -> str:
        """Deletes a document, if it is at ``rev``; answers the deletion's revision."""
    def put_many(self, documents: Iterable[Document]) -> list[str | RecensionError]:
        """Many documents in one commit: for each its revision, or what refuses it."""
    def patch(self, id: str, changes: Patch, rev: str | None = None) -> str: ...
    def update_many(self, selector: Selector, changes: Patch) -> Matched: ...
    def delete_many(self, selector: Selector) -> Matched: ...
    def restore(self, id: str, rev: str) -> str: ...
    def restore_to(self, at: At) -> Restored: ...
    def attach(
        self, id: str, name: str, data: bytes | bytearray | PathLike[str],
        content_type: str = "application/octet-stream", rev: str | None = None,
    ) -> str: ...
    def detach(self, id: str, name: str, rev: str | None = None) -> str: ...
    def load(self, source: str | PathLike[str] | Iterable[str]) -> int: ...
    def create_index(
        self, name: str, *paths: str, unique: bool = False, words: str | None = None, where: str | None = None,
    ) -> None: ...
    def drop_index(self, name: str) -> None: ...
    def changes(
        self, since: int | str | None = None, *, follow: bool = False, timeout: float | None = None,
    ) -> Changes: ...

class PastCollection(_Reads, Mapping[str, Document]):
    def __getitem__(self, id: str) -> Document: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, id: str, default: Any = None, *, at: At | None = None) -> Any: ...  # type: ignore[override]

class Moment:
    seq: int
    def __getitem__(self, name: str) -> PastCollection: ...

class Transaction:
    @property
    def seq(self) -> int: ...
    def __getitem__(self, name: str) -> Collection: ...
    def commit(self) -> int: ...
    def rollback(self) -> None: ...
    def __enter__(self) -> Transaction: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None,
    ) -> bool: ...

class Database:
    def __init__(
        self, address: str, *, share: bool = False, read_only: bool = False,
        default: Callable[[Any], Any] | None = None, nan: Literal["null", "omit"] | None = None,
    ) -> None: ...
    @property
    def address(self) -> str: ...
    def __getitem__(self, name: str) -> Collection: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: object) -> bool: ...
    @property
    def seq(self) -> int:
        """The number of the newest commit."""
    @property
    def closed(self) -> bool: ...
    def at(self, moment: At) -> Moment: ...
    @property
    def branch_name(self) -> str | None: ...
    def branch(self, name: str, at: At | None = None) -> Database: ...
    def open_branch(self, name: str) -> Database: ...
    def branches(self) -> list[Branch]: ...
    def rename_branch(self, name: str, to: str) -> None: ...
    def drop_branch(self, name: str) -> None: ...
    def tag(self, name: str, at: At | None = None) -> int: ...
    def tags(self) -> list[Tag]: ...
    def untag(self, name: str) -> bool: ...
    def diff(
        self, other: str | Database, *, at: At | None = None, other_at: At | None = None,
    ) -> Iterator[Difference]: ...
    def merge(
        self, other: str | Database, *, conflicts: Literal["fields", "ours", "theirs", "abort"] = "fields",
        dry_run: bool = False, counters: Sequence[str] | None = None, identities: Sequence[str] | None = None,
    ) -> Merged: ...
    def transaction(self) -> Transaction: ...
    def run(self, body: Callable[[Transaction], _T], attempts: int = 100) -> _T: ...
    def collections(self) -> list[str]: ...
    def drop(self, name: str) -> bool:
        """Drops a collection; whether there was one."""
    def changes(
        self, since: int | str | None = None, *, follow: bool = False, timeout: float | None = None,
    ) -> Changes:
        """What has changed since a position, in order. ``follow``: wait for what comes, ``timeout`` seconds at most."""
    def restore_to(self, at: At) -> Restored: ...
    def backup(self, to: str | PathLike[str]) -> BackupReport: ...
    def close(self) -> None:
        """Closes the store. What is being iterated over keeps it open until that ends."""
    def __enter__(self) -> Database: ...
    def __exit__(self, *_: object) -> None: ...

def open(
    address: str | PathLike[str], *, share: bool = False, read_only: bool = False,
    default: Callable[[Any], Any] | None = None, nan: Literal["null", "omit"] | None = None,
) -> Database: ...
