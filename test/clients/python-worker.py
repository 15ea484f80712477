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
    return object()


worker.run()
print("left", flush=True)
