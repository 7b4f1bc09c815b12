"""A client of Recension's Apocrypha listener."""

from .client import At, Client, DatabaseError, Revision

__all__ = ["At", "Client", "DatabaseError", "Revision"]
