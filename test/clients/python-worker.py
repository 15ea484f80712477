"""A worker for test/clients/python.test.ts: handlers that end in every way."""

import os
import sys
import time

sys.path.insert(0, os.environ["CLIENT"])
from workron import Cancel, Client, Fatal, RateLimited, RetryAfter, Snooze, Worker  # noqa: E402

worker = Worker(Client(), slots=4, name="python-test")


@worker.handler("add")
def add(input, attempt):
    attempt.log(f"adding {input}")
    attempt.progress(0.5, "half")
    return sum(input)


@worker.handler("raise")
def fail(input, attempt):
    raise {"value": ValueError, "fatal": Fatal, "cancel": Cancel}[input]("on purpose")


class OwnFatal(Fatal):
    def __init__(self):
        pass


FATALS = {
    "coded": lambda: Fatal("no such customer", code="unknown_customer", details={"customer": 7}),
    "keyword": lambda: Fatal("no such customer", customer=7, reason="gone"),
    "own": OwnFatal,
    "unreadable": lambda: Fatal("no such customer", code=7, details=object()),
    "nothing": Fatal,
}


@worker.handler("fatal")
def fatal(input, attempt):
    raise FATALS[input]()


@worker.handler("later")
def later(input, attempt):
    if attempt.number == 1:
        raise Snooze(0.01) if input == "snooze" else RetryAfter(0.01, "not yet")
    return attempt.number


@worker.handler("limited")
def limited(input, attempt):
    if attempt.number == 1:
        raise RateLimited(0.2, "429", key=input)
    return attempt.number


@worker.handler("continue")
def resume(input, attempt):
    last = attempt.last_checkpoint()
    if last is None:
        attempt.checkpoint({"step": 7})
        raise RetryAfter(0.01)
    return last["step"]


@worker.handler("until-stopped")
def until_stopped(input, attempt):
    attempt.log("waiting")
    while True:
        attempt.check()
        time.sleep(0.02)


@worker.handler("deaf")
def deaf(input, attempt):
    time.sleep(input)


@worker.handler("gang")
def gang(input, attempt):
    return None if attempt.gang is None else attempt.gang._asdict()


@worker.handler("not-json")
def not_json(input, attempt):
    cyclic = []
    cyclic.append(cyclic)
    return {"object": object(), "nan": float("nan"), "cyclic": cyclic}[input]


@worker.handler("leak")
def leak(input, attempt):
    value, lines = attempt.job["env"]["PASSWORD"], attempt.job["env"]["LINES"].split("\n")
    for line in [f"the password is {value}.", *lines, "end", *lines[:2]]:
        attempt.log(line)
    attempt.progress(0.5, f"with {value}")
    raise {
        "fatal": lambda: Fatal(f"refused: {value}", code=value, details={value: [value, 7, f"{value}{value}"], "n": 8877665544}),
        "long": lambda: Fatal("x" * 990 + value),
        "snooze": lambda: RetryAfter(3600, f"later: {value}"),
    }[input]()


@worker.handler("times")
def times(input, attempt):
    started = time.monotonic()
    time.sleep(input)
    return [started, time.monotonic()]


worker.run()
print("left", flush=True)
