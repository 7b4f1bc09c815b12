"""ibmcloudant, the SDK that Apache CouchDB's makers publish for Python: documents, lists, bulk writes, feeds, attachments."""

import os

import pytest
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1, Document
from ibmcloudant import ChangesFollower, CouchDbSessionAuthenticator


def client(authenticator):
    service = CloudantV1(authenticator=authenticator("adm", "pass"))
    service.set_service_url(os.environ["RECENSION_URL"])
    return service


@pytest.fixture(params=[BasicAuthenticator, CouchDbSessionAuthenticator], ids=["basic", "cookie"])
def couch(request):
    return client(request.param)


@pytest.fixture
def db(couch, request):
    name = "p" + "".join(c for c in request.node.name.lower() if c.isalnum())
    couch.put_database(db=name)
    yield name
    couch.delete_database(db=name)


def refused(status, call, **arguments):
    with pytest.raises(ApiException) as error:
        call(**arguments)
    assert error.value.status_code == status


def test_the_server_is_known(couch):
    assert couch.get_server_information().get_result()["couchdb"] == "Welcome"
    assert couch.get_session_information().get_result()["userCtx"]["name"] == "adm"
    assert "_users" in couch.get_all_dbs().get_result()


def test_documents_are_written_read_changed_and_deleted(couch, db):
    first = couch.put_document(db=db, doc_id="a", document=Document(name="Ada", n=1)).get_result()
    read = couch.get_document(db=db, doc_id="a").get_result()
    assert (read["name"], read["_rev"]) == ("Ada", first["rev"])
    head = couch.head_document(db=db, doc_id="a").get_headers()
    assert head["ETag"].strip('"') == first["rev"]
    second = couch.put_document(db=db, doc_id="a", document={"_rev": first["rev"], "n": 2}).get_result()
    refused(409, couch.put_document, db=db, doc_id="a", document={"_rev": first["rev"], "n": 3})
    couch.delete_document(db=db, doc_id="a", rev=second["rev"])
    refused(404, couch.get_document, db=db, doc_id="a")


def test_many_documents_are_written_listed_and_followed(couch, db):
    docs = [{"_id": f"d{n:04}", "n": n, "text": "what is said often is packed well " * 3} for n in range(1200)]
    rows = couch.post_bulk_docs(db=db, bulk_docs={"docs": docs}).get_result()
    assert len(rows) == 1200 and all(row["ok"] for row in rows)
    listed = couch.post_all_docs(db=db, include_docs=True, start_key="d0100", limit=500).get_result()
    assert [row["doc"]["n"] for row in listed["rows"]] == list(range(100, 600))
    assert couch.get_database_information(db=db).get_result()["doc_count"] == 1200
    seen = {row.id for row in ChangesFollower(service=couch, db=db).start_one_off()}
    assert len(seen) == 1200
    got = couch.post_bulk_get(db=db, docs=[{"id": "d0007"}]).get_result()
    assert got["results"][0]["docs"][0]["ok"]["n"] == 7


def test_attachments_come_back_as_they_went(couch, db):
    data = bytes(range(256)) * 4000
    couch.put_attachment(db=db, doc_id="a", attachment_name="x.bin", attachment=data, content_type="x/y")
    read = couch.get_attachment(db=db, doc_id="a", attachment_name="x.bin").get_result()
    assert read.content == data


def test_partitions_are_told_apart(couch, request):
    name = "parts" + str(abs(hash(request.node.name)))
    couch.put_database(db=name, partitioned=True)
    couch.post_bulk_docs(db=name, bulk_docs={"docs": [{"_id": "a:1"}, {"_id": "a:2"}, {"_id": "b:1"}]})
    assert couch.get_partition_information(db=name, partition_key="a").get_result()["doc_count"] == 2
    rows = couch.post_partition_all_docs(db=name, partition_key="a").get_result()["rows"]
    assert [row["id"] for row in rows] == ["a:1", "a:2"]
    refused(400, couch.put_document, db=name, doc_id="none", document={"n": 1})
    couch.delete_database(db=name)
