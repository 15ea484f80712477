"""Workron for Python: submit jobs, wait for them, and run handlers. One file, standard library only, Python 3.9 or newer.

    from workron import Client, Worker

    client = Client()                                   # WORKRON_URL and WORKRON_TOKEN, or arguments
    job = client.submit(handler="resize", input={"width": 640})
    print(client.result(job["id"]))

    worker = Worker(client, slots=4)

    @worker.handler("resize")
    def resize(input, attempt):
        attempt.log("resizing")
        return {"width": input["width"]}

    worker.run()                                        # until SIGTERM; running jobs finish first
"""

from __future__ import annotations

import http.client
import json
import os
import signal as signals
import socket
import ssl
import stat
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, TypeVar

__all__ = [
    "ApiError", "Attempt", "Cancel", "Client", "Fatal", "Gang", "JobFailed", "RateLimited", "RetryAfter", "Snooze", "Stopped",
    "Unreachable", "Worker",
]

Json = Any
Handler = Callable[[Json, "Attempt"], Json]
AnyHandler = TypeVar("AnyHandler", bound=Handler)

TERMINAL = ("done", "failed", "cancelled", "skipped")
MAX_WAIT_S = 60.0
# The server sends a line at least every 5 s.
SILENCE_S = 12.0
RECONNECT_S = 2.0
# How long a suspect waits for other jobs, and they for it.
ALONE_S = 1.0
MASK = "***"
# Shorter values cannot be masked without masking ordinary words.
MIN_SECRET_LENGTH = 8


class Unreachable(Exception):
    """No Workron answered, or it is not able to at the moment. Trying again later is safe."""


class ApiError(Exception):
    """Workron refused a request. `code` never changes its meaning; the message may."""

    def __init__(self, status: int, problem: Dict[str, Json]) -> None:
        super().__init__(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.status = status
        self.code: str = problem.get("code", "internal")
        self.problem = problem


class JobFailed(Exception):
    """A job that was waited for did not end as `done`. `job` is the job."""

    def __init__(self, job: Dict[str, Json]) -> None:
        super().__init__(f"job {job['id']} is {job['status']} ({job.get('reason')}): {job.get('error') or ''}".rstrip(": "))
        self.job = job


class Fatal(Exception):
    """Raised by a handler: the job has failed and is not tried again.

    `code` and `details` (JSON of at most 8 KiB) are for programs: they are in `thrown` of the job. Other keywords become details.
    """

    def __init__(self, *message: object, code: Optional[str] = None, details: Json = None, **more: Json) -> None:
        super().__init__(*message)
        self.code = code
        self.details = {"details": details, **more} if more and details is not None else more or details


class RetryAfter(Exception):
    """Raised by a handler: this attempt has failed; the next one starts after `seconds`."""

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message or f"retry after {seconds} s")
        self.seconds = seconds


class Snooze(Exception):
    """Raised by a handler: run again after `seconds`. It does not count as a failure."""

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message)
        self.seconds = seconds


class RateLimited(Snooze):
    """Raised by a handler that was told to slow down: no job with this rate starts for `seconds`, and this one runs again then.

    `key` is a rate of the job; None closes all of them.
    """

    def __init__(self, seconds: float, message: str = "", *, key: Optional[str] = None) -> None:
        super().__init__(seconds, message)
        self.key = key


class Cancel(Exception):
    """Raised by a handler: the job is cancelled."""


class Stopped(Exception):
    """Raised by `Attempt.check` when the attempt has to end: cancelled, timed out, lost, or the worker leaves."""


class Client:
    """Calls the HTTP API. Safe to use from several threads."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = 30.0,
        *,
        cafile: Optional[str] = None,
    ) -> None:
        """`url` is that of the server, or `unix:` with the path of its socket; default: WORKRON_URL. `cafile` holds the certificates of the only authorities that are trusted for https://… Default: WORKRON_CA."""
        self.url = (url or os.environ.get("WORKRON_URL") or "http://127.0.0.1:8080").rstrip("/")
        self._token = token or os.environ.get("WORKRON_TOKEN")
        self._timeout = timeout
        trusted = cafile or os.environ.get("WORKRON_CA")
        handlers: List[urllib.request.BaseHandler] = []
        if self.url.startswith("unix:"):
            handlers = [urllib.request.ProxyHandler({}), _SocketHandler(self.url[len("unix:"):])]
        elif trusted:
            handlers = [urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=trusted))]
        self._opener = urllib.request.build_opener(*handlers)
        self._base = "http://localhost" if self.url.startswith("unix:") else self.url

    def submit(self, *, tries: int = 3, **job: Json) -> Dict[str, Json]:
        """Submits a job: `command="…"`, or `handler="…"` with `input=…`, and any field of the API (queue, priority, delay …).

        If the answer gets lost, it is asked for again, at most `tries` times. The job is stored once.
        """
        if "gang" in job:
            raise TypeError("a gang is several jobs: use submit_gang")
        return self._repeat("POST", "/jobs", job, tries)

    def submit_all(self, jobs: List[Dict[str, Json]], *, tries: int = 3) -> List[Dict[str, Json]]:
        """Submits all jobs or none, and returns them in order."""
        return self._repeat("POST", "/jobs", jobs, tries)["items"]

    def submit_gang(
        self, size: int, *, rules: Optional[Dict[str, Json]] = None, tries: int = 3, **job: Json
    ) -> List[Dict[str, Json]]:
        """Submits a gang: `size` jobs that all start, or none. Returns them by rank.

        `rules` are the other fields of `gang`: `{"min": 2, "spread": "spread", "on_member_failure": "fail"}`.
        """
        return self.submit_all([{**job, "gang": {**(rules or {}), "size": size}}], tries=tries)

    def job(self, job_id: str) -> Dict[str, Json]:
        return self.call("GET", f"/jobs/{_part(job_id)}")

    def jobs(self, **filters: Json) -> Iterator[Dict[str, Json]]:
        """Lists jobs, newest first: `client.jobs(queue="mail", status="failed")`. Fetches pages as they are needed."""
        cursor: Optional[str] = None
        while True:
            page = self.call("GET", "/jobs", query={**filters, "cursor": cursor})
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def attempts(self, job_id: str) -> List[Dict[str, Json]]:
        """Lists the ended attempts of a job: outcome, times, and `usage` (`cpu_ms`, `max_rss_bytes`) where it is known."""
        return self.call("GET", f"/jobs/{_part(job_id)}/attempts")["items"]

    def wait(self, job_id: str, timeout: Optional[float] = None) -> Dict[str, Json]:
        """Waits until a job has ended and returns it, whatever its end. Raises TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = MAX_WAIT_S if end is None else min(MAX_WAIT_S, end - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"job {job_id} has not ended")
            try:
                job = self.call(
                    "GET", f"/jobs/{_part(job_id)}/wait", query={"timeout": max(1, int(left * 1000))}, timeout=left + 10
                )
            except Unreachable:
                time.sleep(min(1.0, left))
                continue
            if job["status"] in TERMINAL:
                return job

    def result(self, job_id: str, timeout: Optional[float] = None) -> Json:
        """Waits for a job and returns its result. Raises JobFailed unless it is done."""
        job = self.wait(job_id, timeout)
        if job["status"] != "done":
            raise JobFailed(job)
        return job["result"]

    def cancel(self, job_id: str) -> Dict[str, Json]:
        return self.call("POST", f"/jobs/{_part(job_id)}/cancel", {})

    def retry(self, job_id: str) -> Dict[str, Json]:
        return self.call("POST", f"/jobs/{_part(job_id)}/retry", {})

    def call(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        query: Optional[Dict[str, Json]] = None,
        headers: Optional[Dict[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Json:
        """Sends one request and returns the decoded answer. A body of bytes is sent as it is."""
        request = self._request(method, path, query or {}, headers or {})
        if isinstance(body, bytes):
            request.data = body
            request.add_header("Content-Type", "application/octet-stream")
        elif body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with self._opener.open(request, timeout=timeout or self._timeout) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, urllib.error.URLError) as error:
            raise Unreachable(f"{self.url}: {error}") from None
        return json.loads(text) if text else {}

    def _lines(self, path: str, *, silence: float) -> Iterator[str]:
        """Yields the lines of an event stream until it breaks off, or is silent for this many seconds."""
        request = self._request("GET", path, {}, {"Accept": "text/event-stream"})
        try:
            with self._opener.open(request, timeout=silence) as answer:
                for line in answer:
                    yield line.decode("utf-8", "replace").rstrip("\r\n")
        except (OSError, urllib.error.URLError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url}: {error}") from None

    def _request(
        self, method: str, path: str, query: Dict[str, Json], headers: Dict[str, str]
    ) -> urllib.request.Request:
        given = {key: value for key, value in query.items() if value is not None}
        url = self._base + path + ("?" + urllib.parse.urlencode(given, doseq=True) if given else "")
        request = urllib.request.Request(url, method=method, headers={"Accept": "application/json", **headers})
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        return request

    def _repeat(self, method: str, path: str, body: Json, tries: int) -> Json:
        key = str(uuid.uuid4())
        for left in range(tries - 1, -1, -1):
            try:
                return self.call(method, path, body, headers={"Idempotency-Key": key})
            except Unreachable:
                if left == 0:
                    raise
                time.sleep(0.5)


class _SocketHandler(urllib.request.HTTPHandler):
    """Sends requests to a socket of the file system, unless another user could have made or could replace it."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        _check_socket(self._path)

        def connection(host: str, timeout: Any = None, **_: Any) -> http.client.HTTPConnection:
            made = http.client.HTTPConnection(host, timeout=timeout)
            made.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.sock.settimeout(timeout)
            made.sock.connect(self._path)
            return made

        return self.do_open(connection, request)


def _check_socket(path: str) -> None:
    trusted = {0, os.getuid()}
    names, at, links = os.path.abspath(path).split("/")[1:], "/", 0
    found = os.lstat(at)
    while names:
        shared = bool(found.st_mode & 0o022)
        if shared and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(f"other users can write to {at}")
        place = os.path.join(at, names.pop(0))
        entry = os.lstat(place)
        if entry.st_uid not in trusted and (shared or not stat.S_ISDIR(entry.st_mode)):
            raise PermissionError(f"{place} belongs to another user")
        if stat.S_ISLNK(entry.st_mode):
            links += 1
            if links > 40:
                raise PermissionError(f"{path} has too many links")
            names = os.path.normpath(os.path.join(at, os.readlink(place))).split("/")[1:] + names
            at, found = "/", os.lstat("/")
        else:
            trusted.add(entry.st_uid)
            at, found = place, entry
    if not stat.S_ISSOCK(found.st_mode):
        raise PermissionError(f"{at} is no socket")


def _part(text: str) -> str:
    return urllib.parse.quote(str(text), safe="")


def _refusal(error: urllib.error.HTTPError) -> Exception:
    text = error.read()
    try:
        problem = json.loads(text)
    except ValueError:
        problem = {}
    if error.code in (502, 503, 504):
        return Unreachable(problem.get("title") or f"HTTP {error.code}")
    return ApiError(error.code, problem if isinstance(problem, dict) else {})


class Gang(NamedTuple):
    """The gang of a running job: jobs that have started together."""

    id: str
    #: The rank of this member: 0 to `size` - 1.
    rank: int
    #: The number of members that start.
    size: int
    #: The address of the worker of each of them, by rank.
    hosts: List[str]


class _Mask:
    """Replaces the secrets of a job, with and without spaces around them. Those that overlap are replaced together."""

    def __init__(self, job: Dict[str, Json]) -> None:
        secrets = [job["env"][name] for name in job.get("secret_env", []) if isinstance(job["env"].get(name), str)]
        trimmed = [value.strip() for value in secrets if len(value.strip()) >= MIN_SECRET_LENGTH]
        self._values = [value.encode("utf-8", "replace") for value in {*secrets, *trimmed} if value]
        self._numbers = {_number(value) for value in secrets} - {None}
        #: The end of the output so far, if the next lines decide whether it is part of a secret.
        self.held = b""

    def push(self, data: bytes) -> bytes:
        """Returns the output that can be written."""
        data = self.held + data
        found = self._find(data)
        cut = len(data) - max((_overlap(data, value) for value in self._values), default=0)
        for start, end in reversed(found):
            cut = min(cut, start) if end > cut else cut
        self.held = data[cut:]
        return _replaced(data[:cut], [place for place in found if place[1] <= cut])

    def end(self) -> bytes:
        """Returns what was held back."""
        data, self.held = self.held, b""
        return _replaced(data, self._find(data))

    def text(self, text: str) -> str:
        data = text.encode("utf-8", "replace")
        found = self._find(data)
        return _replaced(data, found).decode("utf-8", "replace") if found else text

    def json(self, value: Json) -> Json:
        """Masks all texts of a JSON value, its keys included, and the numbers that show a secret."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return MASK if _number(value) in self._numbers or self._find(str(value).encode()) else value
        if isinstance(value, (list, tuple)):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {self.json(key): self.json(item) for key, item in value.items()}
        return value

    def outcome(self, outcome: Dict[str, Json]) -> Dict[str, Json]:
        """Masks errors, and then cuts them. A result keeps its secrets: children get the true value."""
        masked = {**outcome, **self.json({key: outcome[key] for key in ("error", "thrown") if outcome.get(key)})}
        if masked.get("error"):
            masked["error"] = masked["error"][-8000:]
        for key in ("message", "code"):
            if masked.get("thrown") and masked["thrown"][key]:
                masked["thrown"][key] = masked["thrown"][key][:1000]
        return masked

    def _find(self, data: bytes) -> List[Tuple[int, int]]:
        places: List[Tuple[int, int]] = []
        for value in self._values:
            at = data.find(value)
            while at != -1:
                places.append((at, at + len(value)))
                at = data.find(value, at + 1)
        found: List[Tuple[int, int]] = []
        for start, end in sorted(places):
            if found and start < found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found


def _replaced(data: bytes, places: List[Tuple[int, int]]) -> bytes:
    shown, at = [], 0
    for start, end in places:
        shown += [data[at:start], MASK.encode()]
        at = end
    return b"".join([*shown, data[at:]])


def _overlap(data: bytes, value: bytes) -> int:
    """The length of the longest beginning of `value` with which `data` ends."""
    for size in range(min(len(data), len(value) - 1), 0, -1):
        if data[-size] == value[0] and data[-1] == value[size - 1] and data.endswith(value[:size]):
            return size
    return 0


def _number(value: Json) -> Optional[float]:
    """The number as readers of JSON see it: rounded. None for a short one, which may be anything."""
    try:
        number = abs(float(value))
    except (ValueError, OverflowError):
        return None
    return number if len(repr(number)) >= MIN_SECRET_LENGTH + len(".0") else None


class Attempt:
    """One attempt of a job, as a handler sees it."""

    def __init__(self, worker: "Worker", job: Dict[str, Json]) -> None:
        self._worker = worker
        self._offset = 0
        self._output = threading.Lock()
        self._mask = _Mask(job)
        #: The job as it was claimed, with the values of its `env`.
        self.job = job
        self.id: str = job["id"]
        self.number: int = job["attempt"]
        #: The gang that the job is a member of, or None.
        self.gang: Optional[Gang] = _gang(job)
        #: Set when the attempt has to end. A handler that runs for long looks at it, or calls `check`.
        self.stop = threading.Event()
        self.is_finished = False
        #: Why: "cancelled", "timed_out", "interrupted" or "lost".
        self.stop_reason: Optional[str] = None
        self._timers: List[threading.Timer] = []
        self._after(job["timeout"], lambda: self.end("timed_out"))

    def check(self) -> None:
        """Raises Stopped if the attempt has to end."""
        if self.stop.is_set():
            raise Stopped(self.stop_reason)

    def log(self, text: str) -> None:
        """Adds a line to the job's output, with the values of its secrets masked."""
        line = text if text.endswith("\n") else text + "\n"
        with self._output:
            self._write(self._mask.push(line.encode("utf-8", "replace")))

    def reported(self, outcome: Dict[str, Json]) -> Dict[str, Json]:
        """Writes the rest of the output, and returns the outcome as it is reported."""
        if self._mask.held:
            with self._output:
                self._write(self._mask.end())
        return self._mask.outcome(outcome)

    def _write(self, data: bytes) -> None:
        query = {"worker_id": self._worker.id, "attempt": self.number, "offset": self._offset}
        if not data:
            return
        try:
            self._worker.client.call("POST", f"/jobs/{self.id}/logs", data, query=query)
            self._offset += len(data)
        except (ApiError, Unreachable):
            pass  # Output is not worth a failure of the job.

    def progress(self, fraction: float, text: str = "") -> None:
        """Reports how far the job is: 0 to 1, and a word about it."""
        self._worker.report(self, {"progress": {"fraction": fraction, "text": self._mask.text(text) or None}})

    def checkpoint(self, value: Json) -> None:
        """Stores a JSON value that the next attempt can continue from."""
        query = {"worker_id": self._worker.id, "attempt": self.number}
        self._worker.client.call("PUT", f"/jobs/{self.id}/checkpoint", {"value": value}, query=query)

    def last_checkpoint(self) -> Json:
        """The last checkpoint of any attempt of this job, or None."""
        try:
            return self._worker.client.call("GET", f"/jobs/{self.id}/checkpoint").get("value")
        except ApiError as error:
            if error.code == "not_found":
                return None
            raise

    def end(self, reason: str) -> None:
        """Asks the handler to end. If it does not within the job's `kill_grace`, its attempt is reported without it."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self._after(self.job["kill_grace"], lambda: self._worker.abandon(self))
        elif reason == "lost":
            self.stop_reason = reason
        self.stop.set()

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _after(self, milliseconds: float, action: Callable[[], None]) -> None:
        timer = threading.Timer(milliseconds / 1000, action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()

    @property
    def lease(self) -> Dict[str, Json]:
        return {"job_id": self.id, "attempt": self.number}


class Worker:
    """Claims jobs for the handlers that it knows and runs each in a thread."""

    def __init__(
        self,
        client: Client,
        *,
        slots: int = 4,
        name: str = "python",
        queues: Optional[List[str]] = None,
        tags: Optional[List[str]] = None,
    ) -> None:
        self.client = client
        self.id = ""
        self._slots = slots
        self._name = name
        self._offer: Dict[str, Json] = {"queues": queues, "tags": tags or [], "commands": False}
        self._handlers: Dict[str, Handler] = {}
        self._held: Dict[Tuple[str, int], Attempt] = {}
        self._running: List[threading.Thread] = []
        self._lock = threading.Lock()
        #: Notified when the outcome of an attempt was answered.
        self._released = threading.Condition(self._lock)
        self._free = threading.Semaphore(slots)
        self._leaving = threading.Event()
        self._ended = threading.Event()
        #: Set when the next heartbeat should not wait.
        self._nudged = threading.Event()
        self._seq = 0
        self._seen = 0
        self._lease_s = 30.0
        self._heartbeat_s = 5.0
        self._last_answer = 0.0

    def handler(self, name: str) -> Callable[[AnyHandler], AnyHandler]:
        """Registers a function as the handler of jobs with this name. It gets the input and the attempt."""

        def add(function: AnyHandler) -> AnyHandler:
            self._handlers[name] = function
            return function

        return add

    def leave(self) -> None:
        """Claims nothing more. `run` returns when the running jobs have ended."""
        self._leaving.set()

    def run(self) -> None:
        """Works until `leave`, SIGTERM or SIGINT, or until the worker is drained."""
        if threading.current_thread() is threading.main_thread():
            for number in (signals.SIGTERM, signals.SIGINT):
                signals.signal(number, lambda *_: self.leave())
        self._register()
        heart = threading.Thread(target=self._beat, name="workron-heartbeat", daemon=True)
        heart.start()
        threading.Thread(target=self._listen, name="workron-nudges", daemon=True).start()
        try:
            while not self._leaving.is_set():
                self._claim()
            for thread in list(self._running):
                thread.join()
        finally:
            self._ended.set()
            self._nudged.set()
            heart.join(self._heartbeat_s)
            try:
                self.client.call("POST", f"/workers/{self.id}/leave", {})
            except (ApiError, Unreachable):
                pass  # The lease ends by itself.

    def report(self, attempt: Attempt, what: Dict[str, Json]) -> None:
        """Reports progress of a running attempt."""
        self.client.call("POST", f"/workers/{self.id}/report", {"items": [{**attempt.lease, **what}]})

    def _register(self) -> None:
        offer = {"protocol": 1, "name": self._name, "slots": self._slots, "handlers": sorted(self._handlers), **self._offer}
        while not self._leaving.is_set():
            try:
                known = self.client.call("POST", "/workers/register", offer)
            except Unreachable:
                self._leaving.wait(1)
                continue
            self.id = known["worker_id"]
            self._lease_s, self._heartbeat_s = known["lease"] / 1000, known["heartbeat"] / 1000
            self._last_answer = time.monotonic()
            return

    def _claim(self) -> None:
        if not self._free.acquire(timeout=0.2):
            return
        # For all free slots: members of a gang start only if the worker has room for all that it got.
        free = 1
        while self._free.acquire(blocking=False):
            free += 1
        self._seq += 1
        # A claim does not wait beyond the next heartbeat: a worker that is to leave notices it soon.
        wait_s = min(self._heartbeat_s, self._lease_s / 2)
        request = {
            "worker_id": self.id, "limit": free, "wait": int(wait_s * 1000), "claim_seq": self._seq,
            "handlers": sorted(self._handlers), **self._offer,
        }
        claimed: List[Dict[str, Json]] = []
        try:
            claimed = self.client.call("POST", "/jobs/claim", request, timeout=wait_s + 10)["items"]
        except Unreachable:
            self._leaving.wait(1)
        except ApiError as error:
            if error.code == "worker_not_found":
                self._stop_all("lost")
                self._register()
            else:
                self._leaving.wait(1)
        for job in claimed:
            if job.get("suspect"):
                self._start_alone(job)
            else:
                self._start(job)
        for _ in range(free - len(claimed)):
            self._free.release()
        # Only now: a heartbeat that names a claim before its jobs are listed would give them back.
        self._seen = self._seq

    def _start(self, job: Dict[str, Json]) -> None:
        attempt = Attempt(self, job)
        with self._lock:
            self._held[attempt.id, attempt.number] = attempt
        thread = threading.Thread(target=self._work, args=(attempt,), name=f"workron-job-{attempt.id}", daemon=True)
        self._running = [each for each in self._running if each.is_alive()] + [thread]
        thread.start()

    def _start_alone(self, job: Dict[str, Json]) -> None:
        """The job may end this process, and jobs that run beside it would be charged with that."""
        key = job["id"], job["attempt"]
        with self._released:
            self._released.wait_for(lambda: not self._held, ALONE_S)
        self._start(job)
        with self._released:
            self._released.wait_for(lambda: key not in self._held, ALONE_S)

    def _work(self, attempt: Attempt) -> None:
        try:
            self._finish(attempt, self._outcome(attempt))
        finally:
            attempt.close()
            self._free.release()

    def abandon(self, attempt: Attempt) -> None:
        """Reports an attempt whose handler does not end. Its slot stays taken until it does."""
        self._finish(attempt, _stopped(attempt))

    def _finish(self, attempt: Attempt, outcome: Dict[str, Json]) -> None:
        """Settles an attempt once, whoever comes first: its handler, or the end of its grace."""
        with self._lock:
            if attempt.is_finished:
                return
            attempt.is_finished = True
        try:
            self._settle(attempt, attempt.reported(outcome))
        finally:
            with self._released:
                self._held.pop((attempt.id, attempt.number), None)
                self._released.notify_all()

    def _outcome(self, attempt: Attempt) -> Dict[str, Json]:
        try:
            return _success(self._handlers[attempt.job["handler"]](attempt.job["input"], attempt))
        except Stopped:
            return _stopped(attempt)
        except Snooze as snooze:
            snoozed: Dict[str, Json] = {"type": "snoozed", "delay": int(snooze.seconds * 1000)}
            if str(snooze):
                snoozed["error"] = str(snooze)
            if isinstance(snooze, RateLimited):
                snoozed["closes"] = "all" if snooze.key is None else {"key": snooze.key}
            return snoozed
        except Cancel as cancel:
            return {"type": "cancelled", "error": str(cancel) or None}
        except RetryAfter as retry:
            return {"type": "failed", "error": str(retry), "retry_after": int(retry.seconds * 1000)}
        except BaseException as error:  # noqa: B036 - whatever a handler raises is a failure of its job
            if attempt.stop.is_set():
                return _stopped(attempt)
            failed: Dict[str, Json] = {"type": "failed", "error": traceback.format_exc(), "thrown": _thrown(error)}
            return {**failed, "fatal": True} if isinstance(error, Fatal) else failed

    def _settle(self, attempt: Attempt, outcome: Dict[str, Json]) -> None:
        """Reports until it is answered. The heartbeat lists the attempt meanwhile, so that nobody else starts the next one."""
        body = {"items": [{**attempt.lease, "outcome": outcome}]}
        while attempt.stop_reason != "lost":
            try:
                [item] = self.client.call("POST", f"/workers/{self.id}/settle", body)["items"]
            except Unreachable:
                time.sleep(1)
                continue
            except ApiError:
                return
            if item["result"] != "invalid" or outcome["type"] != "succeeded":
                return
            # Such as a result that is too large.
            body["items"][0]["outcome"] = outcome = {"type": "failed", "error": "the result was refused", "fatal": True}

    def _listen(self) -> None:
        """Sends a heartbeat at once after a cancel or a drain. Without nudges they come with the next regular one."""
        while not self._ended.is_set():
            listening, is_first = self.id, True
            try:
                for line in self.client._lines(f"/workers/{listening}/nudges", silence=SILENCE_S):
                    # At first, too: one may have been missed before.
                    if is_first or line == "event: nudge":
                        self._nudged.set()
                    is_first = False
                    if self._ended.is_set() or self.id != listening:
                        break
            except Unreachable:
                pass
            self._ended.wait(RECONNECT_S)

    def _beat(self) -> None:
        while True:
            self._nudged.wait(self._heartbeat_s)
            self._nudged.clear()
            if self._ended.is_set():
                return
            with self._lock:
                held = list(self._held.values())
            leases = [attempt.lease for attempt in held]
            try:
                path = f"/workers/{self.id}/heartbeat"
                answer = self.client.call("POST", path, {"leases": leases, "seen_claim": self._seen}, timeout=self._heartbeat_s)
            except (ApiError, Unreachable):
                # Nothing may run when the lease ends: another worker may start the next attempt then.
                if time.monotonic() - self._last_answer > self._lease_s * 2 / 3:
                    self._stop_all("interrupted", but="finish")
                continue
            self._last_answer = time.monotonic()
            self._end(answer["cancel"], "cancelled")
            self._end(answer["lost"], "lost")
            if answer["drain"]:
                self.leave()

    def _end(self, leases: List[Dict[str, Json]], reason: str) -> None:
        for lease in leases:
            with self._lock:
                attempt = self._held.get((lease["job_id"], lease["attempt"]))
            if attempt is not None:
                attempt.end(reason)

    def _stop_all(self, reason: str, but: Optional[str] = None) -> None:
        with self._lock:
            for attempt in self._held.values():
                if attempt.job["on_disconnect"] != but:
                    attempt.end(reason)


def _gang(job: Dict[str, Json]) -> Optional[Gang]:
    gang, hosts = job.get("gang"), job.get("gang_hosts")
    return None if gang is None or hosts is None else Gang(gang["id"], gang["rank"], len(hosts), hosts)


def _success(result: Json) -> Dict[str, Json]:
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        # The next attempt would return it again.
        return {"type": "failed", "error": f"the result is not JSON: {error}", "fatal": True}
    return {"type": "succeeded", "result": result}


def _thrown(error: BaseException) -> Dict[str, Json]:
    code, details = getattr(error, "code", None), getattr(error, "details", None)
    try:
        written = json.dumps(details, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        written = ""
    return {
        "name": type(error).__name__,
        "message": str(error),
        "code": str(code) if isinstance(code, (str, int)) else None,
        "details": details if 0 < len(written) <= 8192 else None,
        "causes": [],
    }


def _stopped(attempt: Attempt) -> Dict[str, Json]:
    if attempt.stop_reason == "timed_out":
        return {"type": "timed_out", "error": f"timed out after {attempt.job['timeout']} ms"}
    return {"type": attempt.stop_reason or "interrupted", **({"error": "stopped"} if attempt.stop_reason == "interrupted" else {})}
