"""A Hugging Face hub on 127.0.0.1: as much of its protocol as huggingface_hub uses to list and download a commit."""

import hashlib
import json
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGE = 2000  # bytes from which a file is kept, named and redirected as git-lfs does


class Hub:
    """Repositories in memory, the requests that came, and faults to come.

    repositories: (kind, name, commit) -> path -> bytes. gated: names that are listed for everyone and give no file.
    cut, wrong: path -> how many downloads break off in the middle, or give other bytes of the same length. stalled:
    path -> an event without which its downloads stop in the middle and wait. files: further files by path.
    Large files are also offered by Xet, which nobody answers.
    """

    def __init__(self):
        self.repositories: dict[tuple[str, str, str], dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.cut: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.stalled: dict[str, threading.Event] = {}
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, str | None]] = []
        # The second gives large files, as the hub's storage does: the client tells the two by their addresses.
        self._servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(self)) for _ in range(2)]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.endpoint, self.storage = (f"http://127.0.0.1:{server.server_address[1]}" for server in self._servers)

    def add(self, kind: str, name: str, files: Path | dict[str, bytes]) -> str:
        """Put a repository there; returns its commit."""
        if isinstance(files, Path):
            files = {p.relative_to(files).as_posix(): p.read_bytes() for p in files.rglob("*") if p.is_file()}
        commit = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.repositories[kind, name, commit] = files
        return commit

    def downloads(self) -> list[tuple[str, str | None]]:
        """Path and range of every request for a file's bytes, oldest first."""
        return [(path, wanted) for method, path, wanted in self.requests if method == "GET" and "/api/" not in path]

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _git(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _entry(path: str, data: bytes) -> dict:
    entry = {"type": "file", "path": path, "size": len(data), "oid": _git(data)}
    if len(data) >= LARGE:
        entry["lfs"] = {"oid": _sha256(data), "size": len(data), "pointerSize": 130}
    return entry


def _handler(hub: Hub):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self._answer()

        def do_HEAD(self):
            self._answer()

        def do_POST(self):
            self._body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer()

        def _answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.requests.append((self.command, path, self.headers.get("Range")))
            if result := re.fullmatch(r"/api/(model|dataset)s/(.+)/(tree|paths-info)/([^/]+)", path):
                kind, name, what, commit = result.groups()
                self._listing(kind, name, commit, what)
            elif result := re.fullmatch(r"(/datasets)?/(.+?)/(resolve|bytes)/([^/]+)/(.+)", path):
                prefix, name, what, commit, file = result.groups()
                self._file("dataset" if prefix else "model", name, commit, file, redirected=what == "bytes")
            elif path in hub.files:
                self._bytes(path, hub.files[path], {})
            else:
                self._send(404, {})

        def _repository(self, kind: str, name: str, commit: str) -> dict[str, bytes] | None:
            """The files of a commit; None after an answer that says why there are none."""
            if (kind, name) not in {key[:2] for key in hub.repositories}:
                self._send(401, {"X-Error-Code": "RepoNotFound"})
            elif (kind, name, commit) not in hub.repositories:
                self._send(404, {"X-Error-Code": "RevisionNotFound"})
            else:
                return hub.repositories[kind, name, commit]

        def _listing(self, kind: str, name: str, commit: str, what: str) -> None:
            files = self._repository(kind, name, commit)
            if files is None:
                return
            if what == "paths-info":
                files = {path: files[path] for path in re.findall(r"paths=([^&]+)", unquote(self._body))}
            listed = [_entry(path, data) for path, data in files.items()]
            self._send(200, {"Content-Type": "application/json"}, json.dumps(listed).encode())

        def _file(self, kind: str, name: str, commit: str, file: str, redirected: bool) -> None:
            files = self._repository(kind, name, commit)
            if files is None:
                return
            if name in hub.gated:
                self._send(401, {"X-Error-Code": "GatedRepo"})
            elif file not in files:
                self._send(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
            else:
                self._download(file, files[file], commit, redirected)

        def _download(self, file: str, data: bytes, commit: str, redirected: bool) -> None:
            headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes", "ETag": f'"{_git(data)}"'}
            if len(data) >= LARGE and not redirected:
                headers |= {"X-Linked-ETag": f'"{_sha256(data)}"', "X-Linked-Size": str(len(data))}
                headers |= {"X-Xet-Hash": _sha256(data), "Link": f'<{hub.endpoint}/xet>; rel="xet-auth"'}
                headers["Location"] = f"{hub.storage}{self.path.replace('/resolve/', '/bytes/')}"
                self._send(302, headers)
            elif self.command == "HEAD":
                self._send(200, headers, data)
            else:
                self._bytes(file, data, headers)

        def _bytes(self, file: str, data: bytes, headers: dict[str, str]) -> None:
            if hub.wrong[file]:
                hub.wrong[file] -= 1
                data = bytes(byte ^ 1 for byte in data)
            status, length = 200, len(data)
            if wanted := self.headers.get("Range"):
                start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
                headers["Content-Range"] = f"bytes {start}-{length - 1}/{length}"
                status, data = 206, data[start:]
            cut = hub.cut[file] > 0
            hub.cut[file] -= cut
            self._send(status, headers, data, keep=len(data) // 2 if cut else None, gate=hub.stalled.get(file))

        def _send(self, status: int, headers: dict[str, str], data: bytes = b"", keep=None, gate=None) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if gate is not None:
                self.wfile.write(data[: len(data) // 2])
                gate.wait()
                self.close_connection = True
            elif self.command != "HEAD":
                self.wfile.write(data[:keep])
            if keep is not None:
                self.wfile.flush()
                self.close_connection = True

    return Handler
