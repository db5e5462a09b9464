#!/usr/bin/env python3
"""multipart-parsers.py CORPUS: reads bodies with every multipart parser that can be imported, and compares.

CORPUS is a directory with manifest.json, a list of {"file", "type", "parts": [{"name", "filename", "type", "content"}]},
the content in base64. Each parser must find exactly these parts in each body. Then some of the bodies are spoilt as a wrong
encoder would spoil them, and each parser must not find them in there: a comparison that cannot fail proves nothing.

Ends with 1 when anything differs. Prints a line a parser, and the sum.
"""
import asyncio, base64, io, json, logging, os, re, sys, warnings

logging.disable()
warnings.simplefilter("ignore")


def stdlib_email(content_type, body):
    from email.feedparser import BytesFeedParser
    from email.message import Message
    parser = BytesFeedParser()
    parser.feed(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    message = parser.close()
    if message.defects and body.strip()[:-2] != b"--" + content_type.split("=")[1].encode():
        raise ValueError(message.defects)
    if not isinstance(message.get_payload(), list):
        return []
    def param(part, name):
        # The bytes of a header are read as ASCII; this reads them as the UTF-8 that they are.
        raw = dict((key.lower(), value) for key, value in part.raw_items())["content-disposition"]
        header = Message()
        header["Content-Disposition"] = raw.encode("ascii", "surrogateescape").decode()
        return header.get_param(name, header="content-disposition")
    return [(param(part, "name"), param(part, "filename"), part.get_payload(decode=True))
            for part in message.get_payload()]


def python_multipart(content_type, body):
    from python_multipart.multipart import create_form_parser
    parts = []
    def on_field(field):
        parts.append((field.field_name.decode(), None, field.value or b""))
    def on_file(file):
        file.file_object.seek(0)
        parts.append((file.field_name.decode(), file.file_name.decode(), file.file_object.read()))
    parser = create_form_parser({"Content-Type": content_type.encode()}, on_field, on_file)
    parser.write(body)
    parser.finalize()
    parser.close()
    return parts


def werkzeug(content_type, body):
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData
    decoder = MultipartDecoder(parse_options_header(content_type)[1]["boundary"].encode())
    decoder.receive_data(body)
    decoder.receive_data(None)
    parts = []
    while True:
        event = decoder.next_event()
        if isinstance(event, Field):
            parts.append((event.name, None, b""))
        elif isinstance(event, File):
            parts.append((event.name, event.filename, b""))
        elif isinstance(event, Data):
            parts[-1] = parts[-1][:2] + (parts[-1][2] + event.data,)
        elif isinstance(event, Epilogue):
            return parts
        elif isinstance(event, NeedData):
            raise ValueError("the body ends too early")


def django(content_type, body):
    from django.conf import settings
    if not settings.configured:
        settings.configure(
            DATA_UPLOAD_MAX_NUMBER_FIELDS=None, DATA_UPLOAD_MAX_NUMBER_FILES=None, DATA_UPLOAD_MAX_MEMORY_SIZE=None)
    from django.core.files.uploadhandler import MemoryFileUploadHandler
    from django.http.multipartparser import MultiPartParser
    meta = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": len(body)}
    fields, files = MultiPartParser(meta, io.BytesIO(body), [MemoryFileUploadHandler()]).parse()
    return ([(name, None, value.encode()) for name, values in fields.lists() for value in values]
            + [(name, file.name, file.read()) for name, values in files.lists() for file in values])


def starlette(content_type, body):
    from starlette.datastructures import Headers
    from starlette.formparsers import MultiPartParser
    async def stream():
        yield body
    async def parse():
        parser = MultiPartParser(
            Headers({"content-type": content_type}), stream(), max_files=1000, max_fields=1000,
            max_part_size=1 << 26)
        form = await parser.parse()
        return [(name, None, value.encode()) if isinstance(value, str)
                else (name, value.filename, await value.read()) for name, value in form.multi_items()]
    return asyncio.run(parse())


def aiohttp(content_type, body):
    from aiohttp import MultipartReader, StreamReader
    from aiohttp.base_protocol import BaseProtocol
    async def parse():
        loop = asyncio.get_running_loop()
        stream = StreamReader(BaseProtocol(loop), 1 << 26, loop=loop)
        stream.feed_data(body)
        stream.feed_eof()
        reader = MultipartReader({"Content-Type": content_type}, stream)
        parts = []
        while (part := await reader.next()) is not None:
            parts.append((part.name, part.filename, bytes(await part.read())))
        return parts
    return asyncio.run(parse())


def plain(text):
    """A name without the escapes of HTML, which some parsers undo and some do not, and without quoting backslashes."""
    if text is None:
        return None
    for escaped, raw in (("%22", '"'), ("%0D", "\r"), ("%0A", "\n"), ("\\", "")):
        text = text.replace(escaped, raw)
    return text.strip()


def decoded(parser, content):
    """The content of a field as those parsers give it that make text of it."""
    if parser == "django":
        return content.decode("utf-8", "replace").encode()
    if parser == "starlette":
        try:
            return content.decode().encode()
        except UnicodeDecodeError:
            return content.decode("latin-1").encode()
    return content


def same(parser, found, wanted):
    """Whether the parts are those that were sent, as far as a parser tells: one gives fields and files apart, two decode
    fields, some take the path off a filename."""
    if parser == "django":
        order = lambda part: (part[1] is not None, plain(part[0]))
        found, wanted = sorted(found, key=order), sorted(wanted, key=order)
    return len(found) == len(wanted) and all(
        plain(name) == plain(own)
        and plain(filename) in (plain(ownfile), ownfile and plain(re.split(r"[/\\]", ownfile)[-1]))
        and content == (decoded(parser, owncontent) if ownfile is None else owncontent)
        for (name, filename, content), (own, ownfile, owncontent) in zip(found, wanted))


def spoilt(body, boundary):
    """The body as wrong encoders would write it: delimiters, the parameter, and what must be escaped."""
    yield body.replace(b"\r\n--" + boundary, b"\r\n-" + boundary)
    yield body.replace(b'name="', b'mane="', 1)
    if b"%22; filename=%22" in body:
        yield body.replace(b"%22", b'"')
    if b"%0D%0AX-Injected" in body:
        yield body.replace(b"%0D%0A", b"\r\n")


def check(parser, case, body):
    """Nothing when the parser finds the parts that were sent, else what it found."""
    try:
        found = parser(case["type"], body)
        if parser is aiohttp and holds_nul(case):
            return "taken, with its NUL"
        return None if same(parser.__name__, found, case["wanted"]) else repr(found)[:200]
    except Exception as error:
        # A NUL goes out as it is, as HTML has it; this parser takes none in a header.
        return None if parser is aiohttp and holds_nul(case) and "InvalidHeader" in repr(error) else repr(error)[:200]


def holds_nul(case):
    return any("\0" in part[0] for part in case["wanted"])


def spoilable(case):
    """One part, whose content ends and begins with a visible character, so that each fault has an effect."""
    if len(case["wanted"]) != 1 or holds_nul(case):
        return False
    content = case["wanted"][0][2]
    return content != b"" and b"\r" not in content and b"\n" not in content and content[:1].isalnum()


def main(corpus):
    cases = json.load(open(os.path.join(corpus, "manifest.json")))
    for case in cases:
        case["body"] = open(os.path.join(corpus, case["file"]), "rb").read()
        case["wanted"] = [(part["name"], part.get("filename"), base64.b64decode(part["content"]))
                          for part in case["parts"]]
    failed = used = 0
    for parser in (stdlib_email, python_multipart, werkzeug, django, starlette, aiohttp):
        try:
            parser("multipart/form-data; boundary=b", b"--b--\r\n")
        except ImportError:
            print(f"{parser.__name__}: not installed")
            continue
        used += 1
        faults = [(case, fault) for case in cases if (fault := check(parser, case, case["body"]))]
        for case, fault in faults[:5]:
            print(f"{parser.__name__}: {case['file']} should be {repr(case['wanted'])[:200]}, and is {fault}")
        mutants = [(case, body) for case in cases if spoilable(case)
                   for body in spoilt(case["body"], case["type"].split("=")[1].encode())]
        missed = [body for case, body in mutants if not check(parser, case, body)]
        for body in missed[:3]:
            print(f"{parser.__name__}: reads the spoilt {body[:300]}")
        print(f"{parser.__name__}: {len(cases) - len(faults)} of {len(cases)} bodies read as they were meant, "
              f"{len(mutants) - len(missed)} of {len(mutants)} spoilt ones rejected")
        failed += len(faults) + len(missed) + (not mutants)
    print(f"{len(cases)} bodies, {used} parsers, {failed} differences")
    return 1 if failed or not used or not cases else 0


sys.exit(main(sys.argv[1]))
