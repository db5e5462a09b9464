#!/usr/bin/env python3
"""How the transport reacts to a server that violates HTTP/2: the 57 cases of the tool h2spec for clients, written anew.

    Tests/Scripts/http2-conformance.py .build/debug/transport-stress
    LD_LIBRARY_PATH=$(Tests/Scripts/second-libcurl.sh) Tests/Scripts/http2-conformance.py .build/debug/transport-stress
    Tests/Scripts/http2-conformance.py .build/debug/transport-stress H2SPECD     runs h2spec's program h2specd instead

In each case, the server responds to a GET over TLS with raw frames. The program then sends another GET over the same
transport, so that it is seen whether the transport has closed the connection. Two demands are checked:

- what RFC 7540 demands, as h2spec reads it: an error with one of certain codes, a connection that is closed before the
  next request, or that the client goes on. DIFFERENCES records where a version of libcurl does something else.
- what a program needs: it ends in time, the first GET with a complete response or an error with a code and a text, and
  the second one with a response. TRUNCATED records the exceptions.
"""
import collections
import ctypes
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

# What each version of libcurl does where it differs, by the section and the number of the case.
IGNORED = dict.fromkeys(["5.1/5", "5.1/6", "5.1/8", "5.1/9", "6.1/2"], "goes on")
WITHOUT_GOAWAY = dict.fromkeys(["5.4.1/2", "6.9.1/1"], "closed")
DIFFERENCES = {"7.88.1": IGNORED, "8.14.1": IGNORED | WITHOUT_GOAWAY}
# The GET succeeds with a part of the body.
TRUNCATED = {"7.88.1": {"4.2/2"}}

# MARK: Frames (RFC 9113, 4.1 and 6)

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
ENDED = END_STREAM | END_HEADERS
CODES = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
         "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR"]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b"", reserved=0):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream | reserved << 31) + payload


def number(value):
    return struct.pack(">I", value)


def setting(identifier, value):
    return frame(SETTINGS, 0, 0, struct.pack(">HI", identifier, value))


def field(name, value):
    """A literal that is not added to the table of the receiver (RFC 7541, 6.2.2); both texts are below 127 bytes."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


HEAD = b"\x88" + field(b"access-control-allow-origin", b"*")  # 0x88 is `:status: 200` of the static table.
MORE = field(b"x-more", b"x" * 100)
SUCCESS = b"success"
LARGEST = 16384  # The payload that every receiver accepts (RFC 9113, 4.2).


def response(stream):
    return frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, END_STREAM, stream, SUCCESS)


# MARK: Demands. A reaction is a list such as ["GOAWAY PROTOCOL_ERROR", "closed"]; see Exchange.


def connection_error(*codes):
    """GOAWAY with one of the codes, or a closed connection without GOAWAY."""
    def is_met(reaction):
        goaways = [event for event in reaction if event.startswith("GOAWAY")]
        return all(event[7:] in codes for event in goaways) and (goaways != [] or reaction[-1:] == ["closed"])
    return is_met


def stream_error(*codes):
    """RST_STREAM with one of the codes, or a connection error."""
    return lambda reaction: any(event == f"RST_STREAM {code}" for event in reaction for code in codes) \
        or connection_error(*codes)(reaction)


def exactly(event):
    return lambda reaction: event in reaction


def goes_on(reaction):
    return reaction == ["goes on"]


# MARK: Cases

# `frames` makes what the server sends from the number of the request's stream. `rest` makes what then completes the
# response, if the client goes on. `size` is that of the only body with which the GET may succeed; None: it must not.
Case = collections.namedtuple("Case", "section title demand frames rest size")
CASES = []


def case(section, title, demand, frames, rest=lambda stream: b"", size=None):
    CASES.append(Case(section, title, demand, frames, rest, size))


def before(section, title, demand, frames):
    """A case before the response: a client that goes on receives all of it."""
    case(section, title, demand, frames, response, len(SUCCESS))


def within(section, title, demand, frames, head=HEAD):
    """A case after the head of the response: a client that goes on receives the body."""
    case(section, title, demand, lambda stream: frame(HEADERS, END_HEADERS, stream, head) + frames(stream),
         lambda stream: frame(DATA, END_STREAM, stream, SUCCESS), len(SUCCESS))


def after(section, title, demand, frames):
    """A case after a complete response without a body."""
    case(section, title, demand, lambda stream: frame(HEADERS, ENDED, stream, HEAD) + frames(stream), size=0)


def reset(section, title, demand, frames):
    """A case after the server has reset the stream in the body: the response is not complete."""
    case(section, title, demand, lambda stream: frame(HEADERS, END_HEADERS, stream, HEAD)
         + frame(RST_STREAM, 0, stream, number(CODES.index("CANCEL"))) + frames(stream))


def opened(section, title, demand, flags, frames):
    """A case in the head of the response, which goes on in another frame."""
    case(section, title, demand, lambda stream: frame(HEADERS, flags, stream, HEAD) + frames(stream))


protocol_error, size_error = connection_error("PROTOCOL_ERROR"), connection_error("FRAME_SIZE_ERROR")
closed_stream = connection_error("STREAM_CLOSED")
unknown = frame(0x16, 0, 0, bytes(8))

before("1", "nothing unusual", goes_on, lambda s: b"")

before("4.1", "a frame of an unknown type", goes_on, lambda s: unknown)
before("4.1", "a PING with flags that are not defined", goes_on, lambda s: frame(PING, 0x16, 0, bytes(8)))
before("4.1", "a PING with the reserved bit", goes_on, lambda s: frame(PING, 0x16, 0, bytes(8), reserved=1))

case("4.2", "a DATA frame of 2^14 bytes", goes_on, lambda s: frame(HEADERS, END_HEADERS, s, HEAD)
     + frame(DATA, END_STREAM, s, b"x" * LARGEST), size=LARGEST)
case("4.2", "a DATA frame that is larger than allowed", stream_error("FRAME_SIZE_ERROR"),
     lambda s: frame(HEADERS, END_HEADERS, s, HEAD) + frame(DATA, END_STREAM, s, b"x" * (LARGEST + 1)))
case("4.2", "a HEADERS frame that is larger than allowed", size_error,
     lambda s: frame(HEADERS, ENDED, s, HEAD + MORE * 160))

case("4.3", "a header block that ends in a field", connection_error("COMPRESSION_ERROR"),
     lambda s: frame(HEADERS, ENDED, s, b"\x40"))

before("5.1", "idle: a DATA frame", protocol_error, lambda s: frame(DATA, END_STREAM, 2, b"test"))
before("5.1", "idle: an RST_STREAM frame", protocol_error, lambda s: frame(RST_STREAM, 0, 2, number(8)))
before("5.1", "idle: a WINDOW_UPDATE frame", protocol_error, lambda s: frame(WINDOW_UPDATE, 0, 2, number(100)))
before("5.1", "idle: a CONTINUATION frame", protocol_error, lambda s: frame(CONTINUATION, END_HEADERS, 2, HEAD))
reset("5.1", "after RST_STREAM: a DATA frame", stream_error("STREAM_CLOSED"),
      lambda s: frame(DATA, END_STREAM, s, b"test"))
reset("5.1", "after RST_STREAM: a HEADERS frame", stream_error("STREAM_CLOSED"),
      lambda s: frame(HEADERS, ENDED, s, HEAD))
reset("5.1", "after RST_STREAM: a CONTINUATION frame", stream_error("STREAM_CLOSED", "PROTOCOL_ERROR"),
      lambda s: frame(CONTINUATION, END_HEADERS, s, MORE))
after("5.1", "after END_STREAM: a DATA frame", closed_stream, lambda s: frame(DATA, END_STREAM, s, b"test"))
after("5.1", "after END_STREAM: a HEADERS frame", closed_stream, lambda s: frame(HEADERS, ENDED, s, HEAD))
after("5.1", "after END_STREAM: a CONTINUATION frame", connection_error("STREAM_CLOSED", "PROTOCOL_ERROR"),
      lambda s: frame(CONTINUATION, END_HEADERS, s, MORE))

before("5.1.1", "a response on a stream that was not opened", protocol_error,
       lambda s: frame(HEADERS, ENDED, 101, HEAD))

before("5.4.1", "a PING frame on a stream: the connection is closed", exactly("closed"),
       lambda s: frame(PING, 0, 3, bytes(8)))
before("5.4.1", "a PING frame on a stream: GOAWAY is sent", exactly("GOAWAY PROTOCOL_ERROR"),
       lambda s: frame(PING, 0, 3, bytes(8)))

before("5.5", "a frame of an extension", goes_on, lambda s: unknown)

before("6.1", "a DATA frame on stream 0", protocol_error, lambda s: frame(DATA, END_STREAM, 0, b"test"))
after("6.1", "a DATA frame on a closed stream", stream_error("STREAM_CLOSED"),
      lambda s: frame(DATA, END_STREAM, s, b"test"))
case("6.1", "a DATA frame with more padding than payload", protocol_error,
     lambda s: frame(HEADERS, END_HEADERS, s, HEAD + field(b"content-length", b"4"))
     + frame(DATA, END_STREAM | PADDED, s, b"\6test"))

opened("6.2", "a PRIORITY frame in a header block", protocol_error, 0,
       lambda s: frame(PRIORITY, 0, s, number(0) + b"\xff") + frame(CONTINUATION, END_HEADERS, s, MORE))
before("6.2", "a HEADERS frame on stream 0", protocol_error, lambda s: frame(HEADERS, ENDED, 0, HEAD))
case("6.2", "a HEADERS frame with more padding than payload", stream_error("PROTOCOL_ERROR"),
     lambda s: frame(HEADERS, ENDED | PADDED, s, b"\xff" + HEAD))

before("6.3", "a PRIORITY frame on stream 0", protocol_error, lambda s: frame(PRIORITY, 0, 0, number(0) + b"\xff"))
after("6.3", "a PRIORITY frame of 4 bytes", stream_error("FRAME_SIZE_ERROR"),
      lambda s: frame(PRIORITY, 0, s, number(1)))

before("6.4", "an RST_STREAM frame on stream 0", protocol_error, lambda s: frame(RST_STREAM, 0, 0, number(8)))
before("6.4", "an RST_STREAM frame on an idle stream", protocol_error, lambda s: frame(RST_STREAM, 0, 2, number(8)))
after("6.4", "an RST_STREAM frame of 3 bytes", stream_error("FRAME_SIZE_ERROR"),
      lambda s: frame(RST_STREAM, 0, s, bytes(3)))

before("6.5", "an acknowledgment of SETTINGS with a payload", size_error, lambda s: frame(SETTINGS, ACK, 0, b"\0"))
before("6.5", "a SETTINGS frame on a stream", protocol_error,
       lambda s: frame(SETTINGS, 0, 1, struct.pack(">HI", 3, 100)))
before("6.5", "a SETTINGS frame of 3 bytes", stream_error("PROTOCOL_ERROR", "FRAME_SIZE_ERROR"),
       lambda s: frame(SETTINGS, 0, 0, b"\0\3\0"))

before("6.5.2", "a window above 2^31-1", connection_error("FLOW_CONTROL_ERROR"), lambda s: setting(4, 1 << 31))
before("6.5.2", "a frame size below 2^14", protocol_error, lambda s: setting(5, LARGEST - 1))
before("6.5.2", "a frame size above 2^24-1", protocol_error, lambda s: setting(5, 1 << 24))
before("6.5.2", "an unknown setting", goes_on, lambda s: setting(0xFF, 1))

before("6.5.3", "a SETTINGS frame is acknowledged", exactly("SETTINGS acknowledged"),
       lambda s: setting(3, 100))

before("6.7", "a PING frame", goes_on, lambda s: frame(PING, 0, 0, b"question"))
before("6.7", "a PING frame that acknowledges nothing", goes_on, lambda s: frame(PING, ACK, 0, b"no reply"))
before("6.7", "a PING frame on a stream", protocol_error, lambda s: frame(PING, 0, 1, bytes(8)))
before("6.7", "a PING frame of 6 bytes", size_error, lambda s: frame(PING, 0, 0, bytes(6)))

before("6.8", "a GOAWAY frame on a stream", protocol_error, lambda s: frame(GOAWAY, 0, 1, bytes(8)))

before("6.9", "an increment of 0 for the connection", protocol_error, lambda s: frame(WINDOW_UPDATE, 0, 0, number(0)))
within("6.9", "an increment of 0 for the stream", stream_error("PROTOCOL_ERROR"),
       lambda s: frame(WINDOW_UPDATE, 0, s, number(0)))
before("6.9", "a WINDOW_UPDATE frame of 3 bytes", size_error, lambda s: frame(WINDOW_UPDATE, 0, 0, b"\0\0\1"))

before("6.9.1", "a window of the connection above 2^31-1", exactly("GOAWAY FLOW_CONTROL_ERROR"),
       lambda s: frame(WINDOW_UPDATE, 0, 0, number(2**31 - 1)) * 2)
within("6.9.1", "a window of the stream above 2^31-1", exactly("RST_STREAM FLOW_CONTROL_ERROR"),
       lambda s: frame(WINDOW_UPDATE, 0, s, number(2**31 - 1)) * 2)

case("6.10", "a head in three frames", goes_on, lambda s: frame(HEADERS, END_STREAM, s, HEAD)
     + frame(CONTINUATION, 0, s, MORE) + frame(CONTINUATION, END_HEADERS, s, MORE), size=0)
opened("6.10", "a DATA frame in a header block", protocol_error, 0,
       lambda s: frame(CONTINUATION, 0, s, MORE) + frame(DATA, END_STREAM, s, b"test"))
opened("6.10", "a CONTINUATION frame on stream 0", protocol_error, END_STREAM,
       lambda s: frame(CONTINUATION, END_HEADERS, 0, MORE))
after("6.10", "a CONTINUATION frame after a complete HEADERS frame", protocol_error,
      lambda s: frame(CONTINUATION, END_HEADERS, s, MORE))
case("6.10", "a CONTINUATION frame after a complete CONTINUATION frame", protocol_error,
     lambda s: frame(HEADERS, END_STREAM, s, HEAD) + frame(CONTINUATION, END_HEADERS, s, MORE) * 2, size=0)
opened("6.10", "a CONTINUATION frame after a DATA frame", protocol_error, 0,
       lambda s: frame(DATA, END_STREAM, s, b"test") + frame(CONTINUATION, END_HEADERS, s, MORE))

# MARK: The server

PATIENCE = 2  # In seconds; passes only if the client neither reads nor closes a connection.


class Exchange:
    """What the client does in one case on the connection of its first GET."""

    def __init__(self, case):
        self.case, self.reaction = case, []
        self.is_settled, self.is_over = threading.Event(), False

    def note(self, event):
        if not self.is_over:
            self.reaction.append(event)

    def settle(self, event):
        """The client has closed the connection, or it has read all that the case sent and goes on."""
        if not self.is_settled.is_set():
            self.note(event)
            self.is_settled.set()

    def end(self):
        """The second GET is answered next, after which the client may close its connections."""
        if not self.is_settled.wait(PATIENCE):
            self.settle("no reaction")
        self.is_over = True


class Connection:
    def __init__(self, socket):
        self.socket, self.buffer = socket, b""

    def read(self, count):
        while len(self.buffer) < count:
            received = self.socket.recv(65536)
            if not received:
                raise EOFError
            self.buffer += received
        result, self.buffer = self.buffer[:count], self.buffer[count:]
        return result

    def frames(self):
        """The type, the flags, the stream and the payload of each frame."""
        while True:
            head = self.read(9)
            yield head[3], head[4], struct.unpack(">I", head[5:])[0], self.read(int.from_bytes(head[:3], "big"))

    def begin(self):
        """Agrees on settings, and returns the stream of the first request."""
        if self.read(len(PREFACE)) != PREFACE:
            raise EOFError
        self.socket.sendall(setting(4, 65535) + frame(SETTINGS, ACK, 0))
        return next(stream for kind, flags, stream, _ in self.frames() if kind == HEADERS and flags & END_STREAM)

    def violate(self, exchange):
        """Sends the frames of the case, and notes what the client does.

        A client goes on if it answers two PING frames: the first one after the frames of the case, and the second one
        after all that it sends because of these frames.
        """
        first = self.begin()
        self.socket.sendall(exchange.case.frames(first) + frame(PING, 0, 0, b"letter 1"))
        second, was_reset, has_read, acknowledged = None, False, False, 0
        for kind, flags, stream, payload in self.frames():
            if kind == GOAWAY:
                exchange.note("GOAWAY " + CODES[int.from_bytes(payload[4:8], "big")])
            elif kind == RST_STREAM:
                exchange.note("RST_STREAM " + CODES[int.from_bytes(payload, "big")])
                was_reset = was_reset or stream == first
            elif kind == SETTINGS and flags & ACK:
                acknowledged += 1
                if acknowledged == 2 and exchange.case.section == "6.5.3":  # The first one is that of the connection.
                    exchange.note("SETTINGS acknowledged")
            elif kind == PING and payload == b"letter 1":
                has_read = True
                self.socket.sendall(frame(PING, 0, 0, b"letter 2"))
            elif kind == PING and payload == b"letter 2":
                exchange.settle("goes on")
                self.socket.sendall(b"" if was_reset else exchange.case.rest(first))
            elif kind == HEADERS:
                second = stream
                if not has_read:
                    exchange.settle("next request")
            if second and exchange.is_settled.is_set():
                exchange.end()
                self.socket.sendall(response(second))
                second = None

    def behave(self, exchange):
        stream = self.begin()
        exchange.end()
        self.socket.sendall(response(stream))
        for _ in self.frames():
            pass


def serve(listener, context, exchange):
    """Accepts the connections of one case until the listener is shut down. The first one gets the case's frames."""
    def run(accepted, is_first):
        try:
            with context.wrap_socket(accepted, server_side=True) as secured:
                connection = Connection(secured)
                (connection.violate if is_first else connection.behave)(exchange)
        except (OSError, EOFError):
            pass
        if is_first:
            exchange.settle("closed")

    is_first = True
    while True:
        try:
            accepted, _ = listener.accept()
        except OSError:
            return
        accepted.settimeout(20)
        threading.Thread(target=run, args=(accepted, is_first), daemon=True).start()
        is_first = False


def write_certificate(path):
    """The key and the certificate that the tests in Swift use."""
    source = pathlib.Path(__file__).resolve().parents[1].joinpath("TestKit", "Certificates.swift").read_text()
    texts = [re.search(f'static let {name} = """\n(.*?)"""', source, re.S)[1] for name in ("validKey", "valid")]
    path.write_text(re.sub("(?m)^ +", "", "".join(texts)))
    return str(path)


def context(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(write_certificate(folder / "certificate"))
    return context


# MARK: The results


def run(case, program, context):
    """What the client did, and the lines that the program has printed; its end instead, if it was not a good one."""
    exchange, listener = Exchange(case), socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, context, exchange), daemon=True).start()
    try:
        ended = subprocess.run([program, "gets", str(listener.getsockname()[1])], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return exchange.reaction, ["the program does not end"]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    lines = ended.stdout.splitlines()
    if ended.returncode != 0 or len(lines) < 2:
        return exchange.reaction, [f"the program ends with {ended.returncode}: {ended.stdout}"]
    return exchange.reaction, lines


RESPONSE = f"200 {len(SUCCESS)}"
ERROR = re.compile("(connectionLost|invalidResponse|timedOut): .{12,}")


def is_whole(case, line):
    """Whether a GET has ended with a complete response or with an error that says something."""
    return line == f"200 {case.size}" or ERROR.fullmatch(line) is not None


def run_h2spec(tool, program, folder):
    """h2spec calls a command with the URL of each case; the program takes the port, and 1 for a single GET."""
    command, certificate = folder / "get", write_certificate(folder / "certificate")
    command.write_text(f'#!/bin/sh\nport=${{1##*:}}\nexec "{pathlib.Path(program).resolve()}" gets "${{port%%/*}}" 1\n')
    command.chmod(0o755)
    arguments = ["--tls", "--cert-file", certificate, "--cert-key-file", certificate, "--exec", command]
    sys.exit(subprocess.run([tool, *arguments]).returncode)


def main(folder):
    if len(sys.argv) == 3:
        return run_h2spec(sys.argv[2], sys.argv[1], folder)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    curl = ctypes.CDLL("libcurl.so.4")
    curl.curl_version.restype = ctypes.c_char_p
    libraries = curl.curl_version().decode()
    version, nghttp2 = re.search(r"libcurl/([0-9.]+)", libraries)[1], re.search(r"nghttp2/[0-9.]+", libraries)
    if not nghttp2:
        return print(f"SKIPPED: libcurl {version} has no HTTP/2")
    known = DIFFERENCES.get(version)
    secure, began, counts, usual = context(folder), time.monotonic(), collections.Counter(), None
    for case in CASES:
        counts[case.section] += 1
        name = f"{case.section}/{counts[case.section]}"
        reaction, lines = run(case, sys.argv[1], secure)
        # What a client does after each response is no reaction: libcurl 7.88.1 resets streams that have ended.
        usual = [event for event in reaction if event != "goes on"] if usual is None else usual
        reaction = [event for event in reaction if event not in usual]
        is_met = case.demand(reaction) and (case.demand is not goes_on or lines[0] == f"200 {case.size}")
        counts["met"] += is_met
        counts["whole"] += is_whole(case, lines[0])
        counts["next"] += lines[1:2] == [RESPONSE]
        text = ", ".join(reaction)
        print(f"{'  ' if is_met else '* '}{name:9}{case.title:58}{text:40}{lines[0]}")
        wrong = []
        if known is not None and is_whole(case, lines[0]) == (name in TRUNCATED.get(version, ())):
            wrong.append(f"the first GET: {lines[0]}")
        if lines[1:] != [RESPONSE]:
            wrong.append(f"the next GET: {lines[1:]}")
        if known is not None and known.get(name) != (None if is_met else text):
            wrong.append(f"recorded is: {known.get(name) or 'the demand is met'}")
        for fault in wrong:
            print(f"error: {name}: {fault}")
        counts["wrong"] += len(wrong)
    print(f"libcurl {version} with {nghttp2[0]}: of {len(CASES)} cases, the RFC's demand is met in {counts['met']}, "
          f"the GET ends with a complete response or an error in {counts['whole']}, and the next GET succeeds in "
          f"{counts['next']} ({time.monotonic() - began:.1f} s)")
    if known is None:
        print(f"no differences are recorded for libcurl {version}")
    if counts["wrong"]:
        sys.exit(f"error: {counts['wrong']} results are wrong")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(pathlib.Path(name))
