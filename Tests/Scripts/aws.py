#!/usr/bin/env python3
"""aws.py compare SEED COUNT: prints random requests with the signatures and the links that botocore computes for them, as JSON.
aws.py serve: runs moto's S3 at a free port, which is printed, with the bucket "letters". Each request is refused unless
botocore computes the same signature for it: that of a header, of a link, of each chunk and of a trailer.
"""
import base64, datetime, hashlib, io, json, random, sys, zlib
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import botocore.auth as auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1"


def text(source, count):
    return "".join(source.choice("abcXYZ019-_.~ /:+&=?!*'()@,;%$#é€😀") for _ in range(source.randint(1, count)))


def case(source):
    is_s3 = source.random() < 0.5
    seconds = source.randint(1_300_000_000, 1_900_000_000)
    date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    # A path may have anything that a URL may have, but that of another service than S3 no dots at its end: there, botocore
    # removes the slash that RFC 3986, 5.2.4 keeps.
    safe = "~:+@,;!$&'()*="
    parts = [quote(text(source, 8).replace("/", ""), safe=safe) for _ in range(source.randint(0, 4))]
    if not is_s3:
        parts = [source.choice(["", ".", "..", part]) for part in parts] + [source.choice(["", "a"])]
    path = "/" + "/".join(parts)
    names = list(dict.fromkeys(text(source, 6) for _ in range(source.randint(0, 4))))
    query = "&".join(f"{quote(name, safe='-_.~+')}={quote(text(source, 9), safe='-_.~+')}" for name in names)
    host = source.choice(["a.example", "a.example:8443", "127.0.0.1:9000"])
    scheme = source.choice(["https", "http"])
    port = source.choice(["", {"https": ":443", "http": ":80"}[scheme]]) if ":" not in host else ""
    url = f"{scheme}://{host}{port}{path}" + ("?" + query if query else "")
    # What is sent: verifiers disagree about what isn't escaped, and Host has no default port.
    key = quote(unquote(path), safe="/~") if is_s3 else path.replace("+", "%2B")
    sent = f"{scheme}://{host}{key}" + ("?" + query.replace("+", "%2B") if query else "")
    headers = [("X-Amz-Meta-A", source.choice(["a", "a   b", "a,b"]))][: source.randint(0, 1)]
    headers += [("X-Note", "\u00e9")][: source.randint(0, 1)]
    headers += [("Content-Type", "text/plain; charset=utf-8"), ("X-Custom", "1"), ("X-Custom", "2")][: source.randint(0, 3)]
    method = source.choice(["GET", "PUT", "POST", "DELETE"])
    body = bytes(source.randbytes(source.randint(1, 99))) if method in ("PUT", "POST") else b""
    token = source.choice([None, "a/token+with=signs"])
    service = source.choice(["s3", "s3express"]) if is_s3 else source.choice(["execute-api", "dynamodb", "sqs", "aoss", "glacier"])
    auth.get_current_datetime = lambda: date
    credentials = Credentials(KEY, SECRET, token)

    def signed(kind, *arguments, data=None):
        request = AWSRequest(method=method, url=sent, data=data)
        if data is not None and not is_s3:
            # botocore adds it for S3 only. A link has none.
            request.headers["X-Amz-Content-SHA256"] = hashlib.sha256(data).hexdigest()
        for name, value in headers:
            request.headers.add_header(name, value)
        kind(credentials, service, REGION, *arguments).add_auth(request)
        return request

    header = signed(auth.S3SigV4Auth if is_s3 else auth.SigV4Auth, data=body)
    link = signed(auth.S3SigV4QueryAuth if is_s3 else auth.SigV4QueryAuth, 600)
    return {
        "service": service, "seconds": seconds, "method": method, "url": url, "headers": headers, "token": token,
        "body": base64.b64encode(body).decode(), "authorization": header.headers["Authorization"], "link": link.url,
    }


class Refused(Exception):
    pass


class Checked:
    """Checks the signature of each request before an application gets it."""

    def __init__(self, application):
        self.application = application

    def __call__(self, environ, start):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        try:
            self.check(environ, body)
        except Refused as reason:
            start("403 Forbidden", [("Content-Type", "application/xml")])
            return [f"<Error><Code>SignatureDoesNotMatch</Code><Message>{reason}</Message></Error>".encode()]
        return self.application(environ, start)

    def check(self, environ, body):
        target = environ["RAW_URI"]
        headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
        headers.update({name.replace("_", "-").lower(): environ[name] for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(name)})
        query = dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
        if "X-Amz-Signature" in query:
            path, items = target.split("?")
            target = path + "?" + "&".join(item for item in items.split("&") if not item.startswith("X-Amz-Signature="))
            fields = {"SignedHeaders": query["X-Amz-SignedHeaders"], "Signature": query["X-Amz-Signature"]}
            scope, time, kind, payload = query["X-Amz-Credential"], query["X-Amz-Date"], auth.S3SigV4QueryAuth, None
        elif headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 "):
            fields = dict(part.split("=", 1) for part in headers["authorization"].split(" ", 1)[1].split(", "))
            scope, time, kind = fields["Credential"], headers["x-amz-date"], auth.S3SigV4Auth
            payload = headers["x-amz-content-sha256"]
        else:
            raise Refused("there is no signature")
        _, day, region, service, _ = scope.split("/")
        # As S3 does: the key is escaped in one way, however it was sent.
        path, mark, items = target.partition("?")
        url = f"http://{headers['host']}{quote(unquote(path), safe='/~')}{mark}{items}"
        request = AWSRequest(method=environ["REQUEST_METHOD"], url=url)
        request.context["timestamp"] = time
        for name in fields["SignedHeaders"].split(";"):
            request.headers[name] = headers[name]
        signer = kind(Credentials(KEY, SECRET), service, region)
        if signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request) != fields["Signature"]:
            raise Refused("the signature differs")
        if payload is None or payload == "UNSIGNED-PAYLOAD":
            return
        if not payload.startswith("STREAMING-"):
            if hashlib.sha256(body).hexdigest() != payload:
                raise Refused("the digest differs")
            return

        def sign(kind, *lines):
            return signer.signature("\n".join(["AWS4-HMAC-SHA256" + kind, time, scope.split("/", 1)[1], *lines]), request)
        self.check_chunks(io.BytesIO(body), headers, payload, sign, fields["Signature"])

    def check_chunks(self, stream, headers, payload, sign, previous):
        def hash(data):
            return hashlib.sha256(data).hexdigest()
        decoded = b""
        while True:
            size, _, signature = stream.readline().strip().decode().partition(";chunk-signature=")
            data = stream.read(int(size, 16))
            if "UNSIGNED" not in payload:
                previous = sign("-PAYLOAD", previous, hash(b""), hash(data))
                if signature != previous:
                    raise Refused("the signature of a chunk differs")
            if not data:
                break
            decoded += data
            if stream.read(2) != b"\r\n":
                raise Refused("a chunk has another size")
        if len(decoded) != int(headers["x-amz-decoded-content-length"]):
            raise Refused("the decoded length differs")
        lines = stream.read().decode().split("\r\n")
        if lines[-2:] != ["", ""] or payload.endswith("-TRAILER") != (len(lines) > 2):
            raise Refused("the end is malformed")
        if len(lines) > 2:
            if lines[0] != "x-amz-checksum-crc32:" + base64.b64encode(zlib.crc32(decoded).to_bytes(4, "big")).decode():
                raise Refused("the checksum differs")
            if headers["x-amz-trailer"] != "x-amz-checksum-crc32":
                raise Refused("the trailer isn't announced")
            if "UNSIGNED" not in payload:
                if lines[1] != "x-amz-trailer-signature:" + sign("-TRAILER", previous, hash((lines[0] + "\n").encode())):
                    raise Refused("the signature of the trailer differs")


def serve():
    import logging
    from moto.s3.models import s3_backends
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server
    logging.disable()
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket("letters", REGION)
    application = Checked(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True)
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


if sys.argv[1] == "serve":
    serve()
else:
    source = random.Random(int(sys.argv[2]))
    print(json.dumps([case(source) for _ in range(int(sys.argv[3]))]))
