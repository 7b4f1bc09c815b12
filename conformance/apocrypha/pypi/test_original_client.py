"""The existing Python client, as it is on PyPI, against the server. Run by crates/recension-cli/tests/python_clients.rs."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "packages"))

import apocrypha.client  # noqa: E402
from apocrypha.exceptions import DatabaseError  # noqa: E402


class OfADialect:
    dialect = ""

    @classmethod
    def setUpClass(cls):
        command = [os.environ["RECENSION_BINARY"], "apocrypha", "--stateless", "--no-unix", "--listen", "127.0.0.1:0"]
        cls.process = subprocess.Popen(command + ["--dialect", cls.dialect], stdout=subprocess.PIPE, text=True)
        cls.port = int(cls.process.stdout.readline().rsplit(":", 1)[1])

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.wait()
        cls.process.stdout.close()

    def setUp(self):
        self.db = apocrypha.client.Client(host="127.0.0.1", port=self.port)
        self.db.set(value={"green": "nice", "octopus": {"legs": 8}, "list": ["a", "b", "c"]})

    def test_all_of_its_methods(self):
        db = self.db
        self.assertEqual(db.get("octopus"), {"legs": 8})
        self.assertEqual(db.get("octopus", "legs"), 8)
        self.assertEqual(db.get("missing", default="x"), "x")
        self.assertEqual(db.get("green", cast=list), ["nice"])
        self.assertEqual(db.keys(), ["green", "list", "octopus"])
        self.assertEqual(db.keys("missing"), [])
        db.append("list", value=["d", "e"])
        db.remove("list", value="a")
        self.assertEqual(db.get("list"), ["b", "c", "d", "e"])
        self.assertEqual(db.pop("list"), "b" if self.dialect == "haskell" else "e")
        db.apply("octopus", "legs", func=lambda legs: legs + 1)
        self.assertEqual(db.get("octopus", "legs"), 9)
        db.delete("octopus")
        self.assertIsNone(db.get("octopus"))
        self.assertEqual(db.query(["green"]), ["nice"])

    def test_errors_are_its_errors(self):
        with self.assertRaises(DatabaseError):
            self.db.get("green", "x", "y")
        with self.assertRaises(DatabaseError):
            self.db.query(["green", "--keys"])
        self.assertEqual(self.db.get("green"), "nice")

    def test_the_memoizing_decorator(self):
        called = []

        @apocrypha.client.Cache(context="test", host="127.0.0.1", port=self.port)
        def square(number):
            called.append(number)
            return number * number

        self.assertEqual([square(7), square(7), called], [49, 49, [7]])

    def test_values_beyond_ascii_as_json_which_it_escapes(self):
        self.db.set("text", value="é☃")
        self.assertEqual(self.db.query(["text", "--edit"], interpret=True), "é☃" if self.dialect == "python" else "é☃")

    def test_its_wrong_frames_beyond_ascii_end_its_own_connection_only(self):
        """It counts characters, and not bytes: what it says next begins in the middle of what it said."""
        for keys in (["é", "=", "☃"], ["☃☃☃"]):
            broken = apocrypha.client.Client(host="127.0.0.1", port=self.port)
            for _ in range(2):
                try:
                    broken.query(keys)
                except (DatabaseError, OSError, UnicodeDecodeError):
                    pass
            self.assertEqual(self.db.get("green"), "nice")


class Haskell(OfADialect, unittest.TestCase):
    dialect = "haskell"


class Python(OfADialect, unittest.TestCase):
    dialect = "python"


if __name__ == "__main__":
    unittest.main()
