"""Serves moto's S3 on a port of the loopback: `serve.py PORT [CERTIFICATE KEY]`.

moto looks whether an object is there and then puts it, in two steps, so that of two conditional puts at once both may
succeed. S3 promises that one does. Here conditional puts come one after the other."""
import io
import sys
from threading import Lock

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

moto = DomainDispatcherApplication(create_backend_app)
one_at_a_time = Lock()


def answer(environ, start_response):
    if "HTTP_IF_NONE_MATCH" not in environ:
        return moto(environ, start_response)
    # The whole body first: a slow sender must not keep the others out.
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    with one_at_a_time:
        return list(moto(environ, start_response))


port, *files = sys.argv[1:]
run_simple(
    "127.0.0.1",
    int(port),
    answer,
    threaded=True,
    ssl_context=tuple(files) or None,
    request_handler=MotoRequestHandler,
)
